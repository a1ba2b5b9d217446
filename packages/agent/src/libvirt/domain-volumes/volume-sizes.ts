import type { Connection } from 'node-libvirt/connection';
import { AFFECT, BLOCK_RESIZE } from 'node-libvirt/flags';
import { domainBlockResize, domainGetBlockInfo } from 'node-libvirt/generated/procedures';
import { HostFailure } from '../../base/failure.ts';
import type { Volume } from '../../host-driver.ts';
import { type DiskSpec, isBelow } from '../../spec.ts';
import { CHANGE_LIMIT } from '../call-limits.ts';
import type { DiskFacts } from '../domain-xml/read-domain.ts';
import { type FoundDomain, keepMetadata, requireDomain } from '../domains/libvirt-domains.ts';

export function volumesOf({ facts }: FoundDomain): DiskFacts[] {
  return facts.disks.filter(({ id, secretUuid }) => id !== null && secretUuid !== null);
}

/**
 * Reads the sizes of the volumes that a running domain has just opened, and stores them with the domain. They are not
 * read at other times, because QEMU reads from the volume to find its size, and pauses the guest until the cluster
 * replies.
 */
export async function keepVolumeSizes(connection: Connection, vmId: string): Promise<void> {
  const domain = await requireDomain(connection, vmId);
  const { metadata } = domain.facts;
  const volumes = volumesOf(domain);
  if (metadata === null || volumes.length === 0) return;
  const sizes: Volume[] = [];
  for (const { id, target } of volumes) {
    const sizeBytes =
      metadata.volumes.find((known) => known.id === id)?.sizeBytes ??
      (await readSize(connection, domain, target));
    sizes.push({ id: id ?? '', sizeBytes });
  }
  await storeSizes(connection, domain, sizes);
}

/**
 * Grows a volume that a running domain has open. QEMU resizes the volume itself, also to a smaller size and without a
 * warning, so a smaller size is refused here.
 */
export async function growVolume(
  connection: Connection,
  domain: FoundDomain,
  disk: DiskSpec,
): Promise<void> {
  const volume = volumesOf(domain).find(({ id }) => id === disk.id);
  if (!volume) throw new HostFailure('disk_missing', `VM ${domain.vmId} does not have ${disk.id}`);
  const known = domain.facts.metadata?.volumes ?? [];
  const others = known.filter(({ id }) => id !== disk.id);
  const keep = (sizeBytes: string) =>
    storeSizes(connection, domain, [...others, { id: disk.id, sizeBytes }]);
  // What is stored may be older than a growth in the cluster, which a smaller size would undo.
  const size = await readSize(connection, domain, volume.target);
  if (isBelow(disk.sizeBytes, size)) {
    await keep(size);
    const message = `disk ${disk.id} has ${size} bytes and cannot be made smaller`;
    throw new HostFailure('disk_shrink', message);
  }
  if (isBelow(size, disk.sizeBytes)) {
    const flags = BLOCK_RESIZE.bytes;
    const args = { dom: domain.handle, disk: volume.target, size: BigInt(disk.sizeBytes), flags };
    await connection.call(domainBlockResize, args, CHANGE_LIMIT);
  }
  await keep(disk.sizeBytes);
}

async function readSize(
  connection: Connection,
  { handle }: FoundDomain,
  target: string,
): Promise<string> {
  const args = { dom: handle, path: target, flags: 0 };
  return String((await connection.call(domainGetBlockInfo, args, CHANGE_LIMIT)).capacity);
}

async function storeSizes(
  connection: Connection,
  domain: FoundDomain,
  volumes: readonly Volume[],
): Promise<void> {
  if (domain.facts.metadata === null) return;
  const metadata = { ...domain.facts.metadata, volumes };
  await keepMetadata(connection, domain, { metadata, flags: AFFECT.live });
}
