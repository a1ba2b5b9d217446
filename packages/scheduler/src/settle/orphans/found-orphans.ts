import { isIPv4 } from 'node:net';
import type { FoundOrphan } from '@gantry/db/queries/hosts/orphans';
import {
  type HostReport,
  isUuid,
  MAX_COUNTER,
  printable,
  type VmReport,
} from '../../attached/host-report.ts';

/** A VM of Gantry has fewer. A host that reports more is wrong, and must not fill the database. */
const MAX_INTERFACES = 16;
const MAX_DESCRIPTION_CHARACTERS = 512 * 1024;

/**
 * Returns the VMs that the host has although no spec names them. Nothing that the host says about them
 * is trusted: what does not have the form of an id, an address or a counter is left out.
 */
export function foundOrphans(report: HostReport): FoundOrphan[] {
  return report.vms
    .filter(({ id, state }) => state === 'VM_OBSERVED_STATE_UNKNOWN' && isUuid(id))
    .map(toOrphan);
}

function toOrphan({ id: vmId, known }: VmReport): FoundOrphan {
  return {
    vmId,
    projectId: known && isUuid(known.projectId) ? known.projectId : null,
    type: printable(known?.type ?? '').slice(0, 100),
    name: printable(known?.name ?? '').slice(0, 100),
    revision: counter(known?.revision),
    generation: counter(known?.generation),
    description: describe(known),
    addresses: known?.devices.map(({ address }) => printable(address)) ?? [],
    interfaces: interfacesOf(known),
  };
}

function counter(text = '0'): string {
  return Number(text) < MAX_COUNTER ? text : '0';
}

function describe(known: VmReport['known']): object {
  const text = JSON.stringify(known ?? {}).replaceAll('\\u0000', '');
  return text.length > MAX_DESCRIPTION_CHARACTERS ? {} : (JSON.parse(text) as object);
}

function interfacesOf(known: VmReport['known']): FoundOrphan['interfaces'] {
  const interfaces = known?.interfaces.slice(0, MAX_INTERFACES) ?? [];
  return interfaces.flatMap(({ id, networkId, mac, privateIpv4, publicIpv4 }) => {
    const privateAddress = privateIpv4.split('/')[0] ?? '';
    if (!isUuid(id) || !isUuid(networkId) || !isIPv4(privateAddress)) return [];
    const publicAddress = isIPv4(publicIpv4) ? publicIpv4 : null;
    return [{ id, networkId, macAddress: printable(mac), privateAddress, publicAddress }];
  });
}
