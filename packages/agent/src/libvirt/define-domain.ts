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
import { type FoundDomain, findDomain, findDomains, keepMetadata } from './libvirt-domains.ts';

type Describe = ReturnType<typeof domainDescriber>['describe'];

/**
 * Returns a function that defines the domain of a VM and returns its virtual hardware. The CPUs that a domain has are in its definition
 * and nowhere else, so a crash loses nothing. CPUs are chosen for one domain at a time, from the choice
 * to the definition, so that two VMs never get the same. A running domain keeps its CPUs and does not
 * wait for others.
 */
export function domainDefiner({ describe }: { describe: Describe }) {
  const oneAtATime = createQueue();

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
      const readOtherPins = () => pinsOfOthers(connection, vm.id);
      const described = await describe(vm, { present, kept, readOtherPins });
      if (present) await ensureName(connection, present);
      await defineXml(connection, described);
    });
    return (await findDomain(connection, vm.id))?.facts.hardware ?? null;
  };
}

/** Domains that do not run are included: they start again with the CPUs of their definition. */
async function pinsOfOthers(connection: Connection, ownId: string): Promise<string[]> {
  const domains = await findDomains(connection);
  return domains.filter(({ vmId }) => vmId !== ownId).flatMap(({ facts }) => facts.vcpuPins);
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
