import type { Direction, Protocol } from './match-rule.ts';

/** Where a packet begins or ends. */
export type End = Inside | { kind: 'outside'; address: string };

/** An address of a network, whether or not a VM has it. */
export type Inside = {
  kind: 'inside';
  networkId: string;
  address: string;
  /** What outside and other networks see of it. Null: they do not. */
  publicAddress: string | null;
  isGateway: boolean;
  /** How it was asked for; a VM is whichever of its addresses the other end can reach. */
  as: 'vm' | 'private' | 'public';
};

/** The rules of one network and direction that the packet has to pass, and how it looks there. */
export type Step = { networkId: string; direction: Direction; source: string; destination: string };

/**
 * `no_route`: no rule could help, since networks are joined only by public addresses.
 * `answered_by_gateway`: the host answers in the network's name, whatever the rules say.
 * `hidden_source`: what the receiver sees is the address of the sender's host.
 */
export type Path = { steps: Step[] } | 'no_route' | 'answered_by_gateway' | 'hidden_source';

/**
 * The way a first packet takes through the hosts. Between two addresses of a network it has to pass
 * what its sender may send and what its receiver may get. A public address is translated where a
 * packet comes from outside, so that a VM in the same network reaches it by way of outside too.
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
