import { formatCidr, parseIpv4 } from '@gantry/model/cidr';
import { HostFailure } from '../base/failure.ts';
import type { InterfaceSpec } from '../spec.ts';
import { bridgeName, networkNumber, tapName } from './kernel/names.ts';
import { isServiceAddress } from './kernel/service-addresses.ts';

/** An interface with all fields checked: nothing in it needs escaping. */
export type VmInterface = {
  id: string;
  networkId: string;
  bridge: string;
  tap: string;
  /** The network's packet mark and routing table. */
  mark: number;
  mac: string;
  address: string;
  /** The block of its subnet, for example 10.0.0.0/24. */
  subnet: string;
  gateway: string | null;
  publicAddress: string | null;
  /** The bandwidth of its VM in each direction. Null: the VM has none. */
  bandwidthMbps: number | null;
};

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;
const PREFIX = /^([1-9]|[12][0-9]|3[0-2])$/;
/** Short enough for two in one alias. */
const ID = /^[0-9A-Za-z._-]{1,64}$/;

export function parseInterface(spec: InterfaceSpec): VmInterface {
  const fail = (why: string) =>
    new HostFailure('invalid_interface', `interface ${spec.id}: ${why}`);
  if (!isId(spec.id)) throw fail('its id is not 1 to 64 letters, digits, ".", "_" or "-"');
  if (!isId(spec.networkId)) throw fail(`"${spec.networkId}" is not a valid network id`);
  const mac = spec.mac.toLowerCase();
  // The lowest bit of the first byte marks a group address, which no interface has.
  if (!MAC.test(mac) || Number.parseInt(mac.slice(0, 2), 16) % 2 === 1) {
    throw fail(`"${spec.mac}" is not a MAC address of one interface`);
  }
  const [address = '', prefixText = ''] = spec.privateIpv4.split('/');
  const number = parseIpv4(address);
  if (number === undefined || !PREFIX.test(prefixText) || spec.privateIpv4.split('/').length > 2) {
    throw fail(`"${spec.privateIpv4}" is not an IPv4 address with a prefix length`);
  }
  if (isServiceAddress(number))
    throw fail(`${address} is in the block that the host reserves for its services`);
  for (const text of [spec.gatewayIpv4, spec.publicIpv4]) {
    if (text !== '' && parseIpv4(text) === undefined)
      throw fail(`"${text}" is not an IPv4 address`);
  }
  // A spec that an earlier version of the agent stored has no bandwidth.
  const { bandwidthMbps = 0 } = spec;
  if (!Number.isInteger(bandwidthMbps) || bandwidthMbps < 0)
    throw fail(`its bandwidth, "${bandwidthMbps}", is not a whole number of Mbit/s`);
  const prefix = Number(prefixText);
  return {
    id: spec.id,
    networkId: spec.networkId,
    bridge: bridgeName(spec.networkId),
    tap: tapName(spec.id),
    mark: networkNumber(spec.networkId),
    mac,
    address,
    subnet: formatCidr({ first: number - (number % 2 ** (32 - prefix)), prefix }),
    gateway: spec.gatewayIpv4 || null,
    publicAddress: spec.publicIpv4 || null,
    bandwidthMbps: bandwidthMbps || null,
  };
}

export function checkVmId(vmId: string): void {
  if (isId(vmId) && vmId !== 'network') return;
  throw new HostFailure('invalid_interface', `"${vmId}" is not a valid VM id`);
}

export function isId(text: string): boolean {
  return ID.test(text);
}
