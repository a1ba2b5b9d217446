import { parseCidr, parseIpv4 } from '@gantry/model/cidr';
import { HostFailure } from '../base/failure.ts';
import type { NetworkSpec } from '../spec.ts';
import { bridgeName, networkNumber, tunnelName } from './kernel/names.ts';
import { isId } from './parse-interface.ts';

export type Subnet = { mark: number; cidr: string; gateway: string };
export type Neighbour = {
  address: string;
  /**
   * The underlay address of the VM's host. Null: that host did not report one and cannot be
   * reached.
   */
  host: string | null;
};

/** A network with all fields checked: nothing in it needs escaping. */
export type Network = {
  id: string;
  vni: number;
  /** The network's packet mark and routing table. */
  mark: number;
  bridge: string;
  tunnel: string;
  subnets: readonly Subnet[];
  neighbours: readonly Neighbour[];
};

const LARGEST_VNI = 2 ** 24 - 1;

export function parseNetworks(specs: readonly NetworkSpec[]): Network[] {
  const networks = specs.map(parseNetwork).sort((a, b) => (a.id < b.id ? -1 : 1));
  const owners = new Map<number, string>();
  for (const { id, vni } of networks) {
    const other = owners.get(vni);
    if (other === undefined) owners.set(vni, id);
    else throw new HostFailure('invalid_network', `networks ${other} and ${id} share ${vni}`);
  }
  return networks;
}

function parseNetwork(spec: NetworkSpec): Network {
  const fail = (why: string) => new HostFailure('invalid_network', `network ${spec.id}: ${why}`);
  if (!isId(spec.id)) throw fail('its id is not 1 to 64 letters, digits, ".", "_" or "-"');
  if (!Number.isInteger(spec.vni) || spec.vni < 1 || spec.vni > LARGEST_VNI) {
    throw fail(`its number ${spec.vni} is not between 1 and ${LARGEST_VNI}`);
  }
  const address = (text: string) => {
    if (parseIpv4(text) === undefined) throw fail(`"${text}" is not an IPv4 address`);
    return text;
  };
  const mark = networkNumber(spec.id);
  return {
    ...{ id: spec.id, vni: spec.vni, mark },
    bridge: bridgeName(spec.id),
    tunnel: tunnelName(spec.id),
    subnets: spec.subnets.map(({ cidr, gatewayIpv4 }) => {
      if (!parseCidr(cidr)) throw fail(`"${cidr}" is not a CIDR`);
      return { mark, cidr, gateway: address(gatewayIpv4) };
    }),
    neighbours: spec.neighbours.map(({ privateIpv4, hostIpv4 }) => ({
      address: address(privateIpv4),
      host: hostIpv4 === '' ? null : address(hostIpv4),
    })),
  };
}
