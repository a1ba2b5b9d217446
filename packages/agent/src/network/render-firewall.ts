import { createHash } from 'node:crypto';
import type { Firewall } from '../machine.ts';
import { renderBlock } from './nft-text.ts';
import { parseNic } from './parse-nic.ts';
import { parseRule } from './parse-rule.ts';
import { renderFilter } from './render-filter.ts';
import { renderGuestTable } from './render-guests.ts';
import { renderNat } from './render-nat.ts';
import { renderRouting } from './render-routing.ts';

/** The tables that are the agent's, and the agent's alone. */
export const TABLES = ['inet gantry', 'bridge gantry'] as const;

export type RenderedFirewall = {
  /** For `nft -f`: replaces both tables in one transaction, whether or not they exist. */
  text: string;
  /** Of everything that was wanted. */
  digest: string;
};

/** What a host filters, as nftables reads it. Fails with what is wrong in it, naming it. */
export function renderFirewall(firewall: Firewall, uplink: string | null): RenderedFirewall {
  const nics = firewall.nics.map(parseNic).sort(byId);
  const rules = firewall.rules.map(parseRule).sort(byId);
  const content = [
    ...renderRouting(nics, uplink),
    ...renderNat(nics, uplink),
    ...renderFilter({ rules, nics, uplink }),
  ];
  const guests = renderGuestTable(nics);
  const digest = createHash('sha256')
    .update([...content, guests].join('\n'))
    .digest('hex');
  const tables = [
    ...TABLES.flatMap((table) => [`table ${table}`, `delete table ${table}`]),
    renderBlock('table inet gantry', content),
    guests,
  ];
  return { text: `${tables.join('\n')}\n`, digest };
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
