import type { Connection } from 'node-libvirt/connection';
import { AFFECT } from 'node-libvirt/flags';
import { domainDefineXmlFlags, domainRename } from 'node-libvirt/generated/procedures';
import { createQueue } from '../base/queue.ts';
import { isBelow, type VmSpec } from '../spec.ts';
import { CHANGE_LIMIT } from './call-limits.ts';
import type { domainDescriber } from './domain-xml/describe-domain.ts';
import { type DomainDefinition, domainName } from './domain-xml/domain-definition.ts';
import { renderDomain } from './domain-xml/render-domain.ts';
import { type FoundDomain, findDomain, findDomains, keepMetadata } from './libvirt-domains.ts';

type Describe = ReturnType<typeof domainDescriber>['describe'];

/**
 * Returns a function that defines the domain of a VM. The CPUs that a domain has are in its definition
 * and nowhere else, so a crash loses nothing. CPUs are chosen for one domain at a time, from the choice
 * to the definition, so that two VMs never get the same. A running domain keeps its CPUs and does not
 * wait for others.
 */
export function domainDefiner({ describe }: { describe: Describe }) {
  const oneAtATime = createQueue();

  return async (connection: Connection, vm: VmSpec): Promise<void> => {
    const present = await findDomain(connection, vm.id);
    if (present?.state === 'running') {
      const described = await describe(vm, { present, readOtherPins: async () => [] });
      await redefine(connection, vm, { present, described });
      return;
    }
    await oneAtATime(async () => {
      const readOtherPins = () => pinsOfOthers(connection, vm.id);
      const described = await describe(vm, { present, readOtherPins });
      if (present) await ensureName(connection, present);
      await defineXml(connection, described);
    });
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

async function defineXml(connection: Connection, described: DomainDefinition): Promise<void> {
  const args = { xml: renderDomain(described), flags: 0 };
  await connection.call(domainDefineXmlFlags, args, CHANGE_LIMIT);
}

/** The domain may have been renamed; libvirt would refuse a definition under the usual name. */
async function ensureName(connection: Connection, { handle, facts, vmId }: FoundDomain) {
  const newName = domainName(vmId);
  if (facts.name === newName) return;
  await connection.call(domainRename, { dom: handle, newName, flags: 0 }, CHANGE_LIMIT);
}
