import type { Connection } from 'node-libvirt/connection';
import { AFFECT } from 'node-libvirt/flags';
import { domainRename } from 'node-libvirt/generated/procedures';
import { createQueue } from '../base/queue.ts';
import type { GuestHardware } from '../host-driver.ts';
import { isBelow, type VmSpec } from '../spec.ts';
import { CHANGE_LIMIT } from './call-limits.ts';
import { defineXml } from './define-xml.ts';
import type { domainDescriber } from './domain-xml/describe-domain.ts';
import { type DomainDefinition, domainName } from './domain-xml/domain-definition.ts';
import { requireHugepages } from './domain-xml/require-hugepages.ts';
import type { DomainView } from './domains/domain-view.ts';
import { type FoundDomain, findDomain, keepMetadata } from './domains/libvirt-domains.ts';

type DefinerHost = {
  describe: ReturnType<typeof domainDescriber>['describe'];
  view: Pick<DomainView, 'list' | 'noticed'>;
  /** VMs with more memory start only with hugepages. Null: none needs them. */
  hugepagesAboveMib?: number | null;
};

/**
 * Returns a function that defines the domain of a VM and returns its virtual hardware. The CPUs that a domain has are in its definition
 * and nowhere else, so a crash loses nothing. CPUs are chosen for one domain at a time, from the choice
 * to the definition, so that two VMs never get the same. A running domain keeps its CPUs and does not
 * wait for others.
 */
export function domainDefiner({ describe, view, hugepagesAboveMib = null }: DefinerHost) {
  const oneAtATime = createQueue();
  /** What was defined here: the view does not read a domain that is still being changed. */
  const defined = new Map<string, readonly string[]>();

  /**
   * Domains that do not run are included: they start again with the CPUs of their definition. A domain that
   * does not reply has the CPUs that it was last seen with.
   */
  const pinsOfOthers = async (ownId: string): Promise<string[]> => {
    const domains = await view.list();
    for (const vmId of defined.keys()) {
      if (!domains.some((domain) => domain.vmId === vmId)) defined.delete(vmId);
    }
    return domains
      .filter(({ vmId }) => vmId !== ownId)
      .flatMap(({ vmId, last }) => [...(last?.facts.vcpuPins ?? []), ...(defined.get(vmId) ?? [])]);
  };

  return async (
    connection: Connection,
    vm: VmSpec,
    kept: GuestHardware | null = null,
  ): Promise<GuestHardware | null> => {
    const present = await findDomain(connection, vm.id);
    if (present?.state === 'running') {
      const described = await describe(vm, { present, kept, readOtherPins: async () => [] });
      await redefine(connection, vm, { present, described });
      return present.facts.hardware;
    }
    await oneAtATime(async () => {
      const readOtherPins = () => pinsOfOthers(vm.id);
      const described = await describe(vm, { present, kept, readOtherPins });
      requireHugepages(vm, described, hugepagesAboveMib);
      if (present) await ensureName(connection, present);
      await defineXml(connection, described);
      view.noticed(vm.id);
      defined.set(
        vm.id,
        described.cells.flatMap(({ vcpuPins }) => vcpuPins),
      );
    });
    return (await findDomain(connection, vm.id))?.facts.hardware ?? null;
  };
}

async function redefine(
  connection: Connection,
  vm: VmSpec,
  { present, described }: { present: FoundDomain; described: DomainDefinition },
): Promise<void> {
  const { generation } = described.metadata;
  const metadata = {
    ...described.metadata,
    generation: isBelow(generation, vm.generation) ? vm.generation : generation,
  };
  await defineXml(connection, { ...described, metadata });
  await keepMetadata(connection, present, { metadata, flags: AFFECT.live });
}

/** The domain may have been renamed; libvirt would refuse a definition under the usual name. */
async function ensureName(connection: Connection, { handle, facts, vmId }: FoundDomain) {
  const newName = domainName(vmId);
  if (facts.name === newName) return;
  await connection.call(domainRename, { dom: handle, newName, flags: 0 }, CHANGE_LIMIT);
}
