import { groupBy } from '@gantry/model/group-by';
import { SERVICE_INPUT, SERVICE_OUTPUT } from '../guest-services/render-services.ts';
import { BRIDGE_PREFIX, HOST_ADDRESS } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import type { Nic } from '../parse-interface.ts';
import type { Tunnel } from '../tunnels/tunnel.ts';
import type { Rule } from './parse-rule.ts';
import { renderRules, replyChain } from './render-rules.ts';

/** A variable of the text, which names the very rules that it stands among. */
export const RULES_MARK = 'rules';
const EVERY_BRIDGE = quote(`${BRIDGE_PREFIX}*`);

/**
 * The rules. A packet between two guests has to pass what its sender may send and what its receiver
 * may get; one from the host itself counts as from outside. A connection is known by the packets of
 * its first direction, and its replies are held to the same rules: one that goes takes the connections
 * it allowed with it, at once and both ways. So that this costs a connection one look and not every
 * packet, a connection that passed carries the mark of these very rules; under other rules it is
 * looked at again. What does not touch one of our bridges is not looked at.
 */
export function renderFilter(filter: {
  rules: readonly Rule[];
  nics: readonly Nic[];
  tunnels: readonly Tunnel[];
  uplink: string | null;
}): string[] {
  const { rules, nics, tunnels, uplink } = filter;
  const networks = new Map(nics.map(({ networkId, bridge }) => [networkId, bridge]));
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
 * A chain that accepts leaves the packet to those after it: the sender's rules, the receiver's, and
 * the mark of what passed both.
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
      // An error about a packet: none of its connection has passed these rules.
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
      // The kernel would tell guests to talk to each other directly, which they cannot.
      'icmp type redirect drop',
      'icmp type { destination-unreachable, time-exceeded, parameter-problem } accept',
      lost,
      // To what it was asked above, which is nothing but an echo.
      'ct direction reply accept',
      'oifname vmap @ingress',
    ]),
  ];
}
