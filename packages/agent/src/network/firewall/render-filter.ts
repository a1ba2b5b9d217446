import { groupBy } from '@gantry/model/group-by';
import { SERVICE_INPUT, SERVICE_OUTPUT } from '../guest-services/render-services.ts';
import { BRIDGE_PREFIX, HOST_ADDRESS } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import type { VmInterface } from '../parse-interface.ts';
import type { Tunnel } from '../tunnels/tunnel.ts';
import type { Rule } from './parse-rule.ts';
import { renderRules, replyChain } from './render-rules.ts';

/** A variable in the rendered text; its value identifies the rules it is part of. */
export const RULES_MARK = 'rules';
const EVERY_BRIDGE = quote(`${BRIDGE_PREFIX}*`);

/**
 * Renders the rules. A packet between two guests must pass the sender's egress rules and the
 * receiver's ingress rules; a packet from the host counts as from outside. A connection is
 * classified by the packets of its first direction, and its replies are checked by the same rules,
 * so removing a rule also cuts the connections it allowed, at once and in both directions. To check
 * each connection once and not every packet, a connection that passed gets a mark that identifies
 * these rules; under other rules it is checked again. Packets that do not touch one of the agent's
 * bridges are not checked.
 */
export function renderFilter(filter: {
  rules: readonly Rule[];
  interfaces: readonly VmInterface[];
  tunnels: readonly Tunnel[];
  uplink: string | null;
}): string[] {
  const { rules, interfaces, tunnels, uplink } = filter;
  const networks = new Map(interfaces.map(({ networkId, bridge }) => [networkId, bridge]));
  const bridges = [...networks.values()].map(quote);
  const ends = [...networks.values()].flatMap((bridge) => [
    ...(uplink === null ? [] : [{ bridge, end: uplink }]),
    ...tunnels
      .filter((tunnel) => tunnel.bridge === bridge)
      .map(({ name }) => ({ bridge, end: name })),
  ]);
  const paths = [
    ...bridges.map((bridge) => `${bridge} . ${bridge}`),
    ...ends.flatMap(({ bridge, end }) => [
      `${quote(bridge)} . ${quote(end)}`,
      `${quote(end)} . ${quote(bridge)}`,
    ]),
  ];
  const directions = ['egress', 'ingress'] as const;
  const byNetwork = groupBy(rules, ({ networkId, direction }) => `${direction} ${networkId}`);
  return [
    renderSet({ kind: 'set', name: 'bridges', of: 'type ifname', elements: bridges }),
    renderSet({ kind: 'set', name: 'paths', of: 'type ifname . ifname', elements: paths }),
    ...[...networks].flatMap(([networkId, bridge]) =>
      directions.flatMap((direction) =>
        renderRules(`${direction}_${bridge}`, byNetwork.get(`${direction} ${networkId}`) ?? []),
      ),
    ),
    ...directions.flatMap((direction) => [
      renderDispatch(direction, networks, (bridge) => `${direction}_${bridge}`),
      renderDispatch(replyChain(direction), networks, (bridge) =>
        replyChain(`${direction}_${bridge}`),
      ),
    ]),
    ...renderHooks(),
  ];
}

function renderDispatch(
  name: string,
  networks: ReadonlyMap<string, string>,
  chainOf: (bridge: string) => string,
): string {
  return renderSet({
    ...{ kind: 'map', name, of: 'type ifname : verdict' },
    elements: [...networks.values()].map((bridge) => `${quote(bridge)} : goto ${chainOf(bridge)}`),
  });
}

/**
 * A chain that accepts passes the packet on to the next chain: the sender's rules, the receiver's
 * rules, and the mark for what passed both.
 */
function renderHooks(): string[] {
  const notOurs = `iifname != ${EVERY_BRIDGE} oifname != ${EVERY_BRIDGE} accept`;
  const passedBefore = `ct mark $${RULES_MARK} accept`;
  const lost = 'ct state invalid,untracked counter drop';
  return [
    renderBlock('chain forward', [
      'type filter hook forward priority filter; policy accept;',
      notOurs,
      'iifname . oifname != @paths counter drop comment "no way from there to there"',
      'meta nfproto != ipv4 counter drop',
      lost,
      passedBefore,
      // An ICMP error about a packet of a connection that has not passed these rules.
      'ct state related counter drop',
      `ct direction reply oifname vmap @${replyChain('egress')}`,
      'ct direction reply accept',
      'iifname vmap @egress',
    ]),
    renderBlock('chain forward_to_receiver', [
      'type filter hook forward priority filter + 1; policy accept;',
      notOurs,
      passedBefore,
      `ct direction reply iifname vmap @${replyChain('ingress')}`,
      'ct direction reply accept',
      'oifname vmap @ingress',
    ]),
    renderBlock('chain forward_passed', [
      'type filter hook forward priority filter + 2; policy accept;',
      passedBefore,
      `iifname . oifname @paths ct mark set $${RULES_MARK}`,
    ]),
    renderBlock('chain input', [
      'type filter hook input priority filter; policy accept;',
      `iifname != ${EVERY_BRIDGE} accept`,
      SERVICE_INPUT,
      lost,
      'ip protocol icmp ct state related accept',
      `ct direction reply iifname vmap @${replyChain('ingress')}`,
      `ip daddr ${HOST_ADDRESS} icmp type echo-request accept`,
      'counter drop comment "guest to host"',
    ]),
    renderBlock('chain output', [
      'type filter hook output priority filter; policy accept;',
      `oifname != ${EVERY_BRIDGE} accept`,
      SERVICE_OUTPUT,
      'oifname != @bridges counter drop',
      'meta nfproto != ipv4 counter drop',
      // The kernel would tell guests to reach each other directly, which they cannot.
      'icmp type redirect drop',
      'icmp type { destination-unreachable, time-exceeded, parameter-problem } accept',
      lost,
      // Replies to what was accepted above, which are only echo replies.
      'ct direction reply accept',
      'oifname vmap @ingress',
    ]),
  ];
}
