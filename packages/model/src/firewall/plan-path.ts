import type { Direction, Protocol } from './match-rule.ts';

/** The source or destination of a packet. */
export type End = Inside | { kind: 'outside'; address: string };

/** An address of a network, whether or not a VM has it. */
export type Inside = {
  kind: 'inside';
  networkId: string;
  address: string;
  /** The address for other networks and the internet. Null: not reachable from there. */
  publicAddress: string | null;
  isGateway: boolean;
  /** How the caller named it. `vm` means the address that the other end can reach. */
  as: 'vm' | 'private' | 'public';
};

/** The rules of one network and direction that apply, and the addresses of the packet there. */
export type Step = { networkId: string; direction: Direction; source: string; destination: string };

/**
 * `no_route`: no rule can allow it, because networks are connected only through public addresses.
 * `answered_by_gateway`: the host replies as the gateway of the network, regardless of the rules.
 * `hidden_source`: the receiver sees the address of the sender's host.
 */
export type Path = { steps: Step[] } | 'no_route' | 'answered_by_gateway' | 'hidden_source';

/**
 * Returns the path of the first packet of a connection through the hosts. Within a network the packet
 * must pass the egress rules of the sender and the ingress rules of the receiver. A public address is
 * translated only for packets from outside, so a VM of the same network also reaches it from outside.
 */
export function planPath(from: End, to: End, protocol: Protocol): Path {
  if (from.kind === 'outside') {
    if (to.kind === 'outside' || to.as === 'private' || to.publicAddress === null) {
      return 'no_route';
    }
    return { steps: [entering(to, from.address)] };
  }
  if (to.kind === 'outside') return { steps: [leaving(from, to.address)] };
  if (to.as !== 'public' && to.networkId === from.networkId) {
    if (to.isGateway && protocol === 'icmp') return 'answered_by_gateway';
    return { steps: [leaving(from, to.address), entering(to, from.address)] };
  }
  if (to.as === 'private' || to.publicAddress === null) return 'no_route';
  if (from.publicAddress === null) return 'hidden_source';
  return { steps: [leaving(from, to.publicAddress), entering(to, from.publicAddress)] };
}

function leaving({ networkId, address }: Inside, destination: string): Step {
  return { networkId, direction: 'egress', source: address, destination };
}

function entering({ networkId, address }: Inside, source: string): Step {
  return { networkId, direction: 'ingress', source, destination: address };
}
