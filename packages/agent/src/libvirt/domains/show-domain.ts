import type { Domain, DomainDisk } from '../../host-driver.ts';
import type { VolumeDriver } from '../../volumes/volume-driver.ts';
import type { SeenDomain } from './domain-view.ts';
import type { FoundDomain } from './libvirt-domains.ts';

type Volumes = Pick<VolumeDriver, 'read'>;

/** Shows a domain as it was last read. */
export async function showSeen(seen: SeenDomain, volumes: Volumes): Promise<Domain> {
  const { vmId, last, silence } = seen;
  const shown = last ? await showFound(last, volumes) : { ...NEVER_READ, vmId };
  return silence ? { ...shown, unresponsive: silence } : shown;
}

const NEVER_READ: Omit<Domain, 'vmId'> = {
  ...{ state: 'unknown', revision: '0', generation: '0', devices: [], disks: [] },
};

export async function showFound(domain: FoundDomain, volumes: Volumes): Promise<Domain> {
  const { vmId, state, facts, isTransient } = domain;
  const { metadata } = facts;
  const ids = [...facts.disks, ...facts.filesystems].flatMap(({ id }) => id ?? []);
  const opened = (id: string) => metadata?.volumes.find((volume) => volume.id === id);
  // A domain that cannot be read, or another program's domain with a similar name, must not hide
  // the rest.
  const found = await Promise.all(
    ids.map(async (id) => opened(id) ?? (await volumes.read(id).catch(() => null))),
  );
  return {
    vmId,
    state,
    revision: isTransient ? '0' : (metadata?.revision ?? '0'),
    generation: metadata?.generation ?? '0',
    // Of a domain that is not ours nothing is known but what it holds.
    devices: metadata?.devices ?? facts.hostdevs.map((address) => ({ address })),
    disks: ids.map((id, index) => ({
      ...(found[index] ?? { id, sizeBytes: '0' }),
      ...tuneOf(facts.disks, id),
    })),
  };
}

function tuneOf(disks: FoundDomain['facts']['disks'], diskId: string): Pick<DomainDisk, 'tune'> {
  const tune = disks.find(({ id }) => id === diskId)?.tune ?? {};
  return Object.keys(tune).length === 0 ? {} : { tune };
}
