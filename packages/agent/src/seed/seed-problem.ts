import { isIPv4 } from 'node:net';
import type { InterfaceSpec, VmSpec } from '../spec.ts';

const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;

/** Whether the id may become part of a file name. */
export function isPlainId(id: string): boolean {
  return PLAIN_ID.test(id);
}

/** All public keys that open the guest. */
export function sshKeysOf({ sshPublicKey, sshKeys }: VmSpec): string[] {
  return [sshPublicKey, ...sshKeys].map((key) => key.trim()).filter((key) => key !== '');
}

/** Returns why a guest could not read its seed correctly, or undefined if it can. */
export function seedProblem(vm: VmSpec): string | undefined {
  if (vm.name !== '' && !/^[a-z0-9-]{1,63}$/i.test(vm.name)) {
    return `its name "${vm.name}" is no host name`;
  }
  if (sshKeysOf(vm).some((key) => /[\r\n\0]/.test(key))) return 'an SSH key is more than one line';
  for (const iface of vm.interfaces) {
    const problem = interfaceProblem(iface);
    if (problem !== undefined) return `interface ${iface.id} has ${problem}`;
  }
  return undefined;
}

function interfaceProblem({ mac, privateIpv4, gatewayIpv4 }: InterfaceSpec): string | undefined {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(mac)) return `no hardware address but "${mac}"`;
  const [address = '', prefix = '', ...rest] = privateIpv4.split('/');
  const isPrefix = /^\d{1,2}$/.test(prefix) && Number(prefix) <= 32;
  if (!isIPv4(address) || !isPrefix || rest.length > 0) {
    return `no address with prefix but "${privateIpv4}"`;
  }
  const hasGateway = gatewayIpv4 === '' || isIPv4(gatewayIpv4);
  return hasGateway ? undefined : `no gateway's address but "${gatewayIpv4}"`;
}
