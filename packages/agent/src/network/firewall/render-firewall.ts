import { createHash } from 'node:crypto';
import type { Firewall } from '../../host-driver.ts';
import { renderServices } from '../guest-services/render-services.ts';
import { renderBlock } from '../kernel/nft-text.ts';
import { assignZones } from '../kernel/zones.ts';
import { parseInterface, type VmInterface } from '../parse-interface.ts';
import { parseNetworks } from '../parse-network.ts';
import { spanNetworks, type Tunnel } from '../tunnels/tunnel.ts';
import type { Underlay } from '../tunnels/underlay.ts';
import { parseRule } from './parse-rule.ts';
import { RULES_MARK, renderFilter } from './render-filter.ts';
import { renderGuests } from './render-guests.ts';
import { renderNat } from './render-nat.ts';
import { renderRouting } from './render-routing.ts';
import { renderTunnels } from './render-tunnels.ts';

/** The tables that belong to the agent alone. */
export const TABLES = ['inet gantry', 'bridge gantry'] as const;

export type RenderedFirewall = {
  /** For `nft -f`: replaces both tables in one transaction, whether or not they exist. */
  text: string;
  /** A digest of the desired rules. */
  digest: string;
  /** The interfaces that the rules let through. */
  interfaces: readonly VmInterface[];
  /** The tunnels that must exist beside the rules. */
  tunnels: readonly Tunnel[];
};

/** Renders what a host filters for nftables. Throws a failure that names the invalid part. */
export function renderFirewall(
  firewall: Firewall,
  uplink: string | null,
  underlay: Underlay | null = null,
): RenderedFirewall {
  const interfaces = firewall.interfaces.map(parseInterface).sort(byId);
  const rules = firewall.rules.map(parseRule).sort(byId);
  const span = spanNetworks(parseNetworks(firewall.networks ?? []), { interfaces, underlay });
  const { subnets, tunnels } = span;
  const zones = assignZones(interfaces.map(({ networkId }) => networkId));
  const content = [
    ...renderRouting({ interfaces, subnets, zones, uplink }),
    ...renderNat({ interfaces, subnets, uplink }),
    ...renderFilter({ rules, interfaces, tunnels, uplink }),
    ...renderTunnels(span, zones),
    ...renderServices(interfaces),
  ];
  const guests = renderGuests(interfaces);
  const digest = createHash('sha256')
    .update([...content, ...guests].join('\n'))
    .digest('hex');
  const tables = [
    `define ${RULES_MARK} = ${markOf(digest)}`,
    ...TABLES.flatMap((table) => [`table ${table}`, `delete table ${table}`]),
    renderBlock(`table ${TABLES[0]}`, [...content, renderVersion(digest)]),
    renderBlock(`table ${TABLES[1]}`, [...guests, renderVersion(digest)]),
  ];
  return { text: `${tables.join('\n')}\n`, digest, interfaces, tunnels };
}

/** No packet passes this chain: its comment says which rules the table contains. */
function renderVersion(digest: string): string {
  return renderBlock('chain version', [`return comment "${digest}"`]);
}

/** Zero is the mark of connections that have not passed any rules. */
function markOf(digest: string): number {
  return Number.parseInt(digest.slice(0, 8), 16) || 1;
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
