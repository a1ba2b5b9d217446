import { TAP_PREFIX } from '../kernel/names.ts';

/** The links that pace a guest's packets: those it sends, and those it receives. */
export const OUTGOING_PREFIX = 'gout';
export const INCOMING_PREFIX = 'gin';

/** One direction of a guest's traffic, and the link that paces it. */
export type Lane = {
  /** Where the kernel redirects packets of the tap; a guest's outgoing packets enter the host. */
  hook: 'ingress' | 'egress';
  /** Differs between the hooks, because the kernel lists filters with one preference at both. */
  preference: number;
  shaper: string;
  alias: string;
};

export function lanesOf(tap: string): Lane[] {
  const suffix = tap.slice(TAP_PREFIX.length);
  const alias = `gantry:bandwidth:${tap}`;
  return [
    { hook: 'ingress', preference: 1, shaper: `${OUTGOING_PREFIX}${suffix}`, alias },
    { hook: 'egress', preference: 2, shaper: `${INCOMING_PREFIX}${suffix}`, alias },
  ];
}

/** Returns the tap whose packets a link paces, or null if the link is not a shaper of the agent. */
export function tapOfShaper({ name, alias }: { name: string; alias: string }): string | null {
  const [owner, what, tap = ''] = alias.split(':');
  const isOurs = owner === 'gantry' && what === 'bandwidth';
  return isOurs && lanesOf(tap).some(({ shaper }) => shaper === name) ? tap : null;
}
