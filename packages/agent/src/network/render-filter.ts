import { BRIDGE_PREFIX, HOST_ADDRESS } from './names.ts';
import { quote, renderBlock, renderSet } from './nft-text.ts';
import type { Nic } from './parse-nic.ts';
import type { Rule } from './parse-rule.ts';
import { renderRuleChain } from './render-rule.ts';

const EVERY_BRIDGE = quote(`${BRIDGE_PREFIX}*`);

/**
 * The rules. A packet between two guests has to pass what its sender may send and what its receiver
 * may get; one from the host itself counts as from outside. Only packets of a connection's first
 * direction are held to the rules, and each of them is: a rule that goes takes the connections it
 * allowed with it. What does not touch one of our bridges is not looked at.
 */
export function renderFilter(filter: {
  rules: readonly Rule[];
  nics: readonly Nic[];
  uplink: string | null;
}): string[] {
  const { rules, nics, uplink } = filter;
  const networks = new Map(nics.map(({ networkId, bridge }) => [networkId, bridge]));
  const bridges = [...networks.values()].map(quote);
  const paths = bridges.flatMap((bridge) => [
    `${bridge} . ${bridge}`,
    ...(uplink === null ? [] : [`${bridge} . ${quote(uplink)}`, `${quote(uplink)} . ${bridge}`]),
  ]);
  const directions = ['egress', 'ingress'] as const;
  return [
    renderSet({ kind: 'set', name: 'bridges', of: 'type ifname', elements: bridges }),
    renderSet({ kind: 'set', name: 'paths', of: 'type ifname . ifname', elements: paths }),
    ...[...networks].flatMap(([networkId, bridge]) =>
      directions.map((direction) =>
        renderBlock(
          `chain ${direction}_${bridge}`,
          renderRuleChain(
            rules.filter((rule) => rule.networkId === networkId && rule.direction === direction),
          ),
        ),
      ),
    ),
    ...directions.map((direction) =>
      renderSet({
        ...{ kind: 'map', name: direction, of: 'type ifname : verdict' },
        elements: [...networks.values()].map(
          (bridge) => `${quote(bridge)} : jump ${direction}_${bridge}`,
        ),
      }),
    ),
    renderBlock('chain replies', [
      'ct state invalid counter drop',
      'ip protocol icmp ct state related accept',
      'ct direction reply ct state established accept',
    ]),
    renderBlock('chain forward', [
      'type filter hook forward priority filter; policy accept;',
      `iifname != ${EVERY_BRIDGE} oifname != ${EVERY_BRIDGE} accept`,
      'iifname . oifname != @paths counter drop comment "no way from there to there"',
      'meta nfproto != ipv4 counter drop',
      'jump replies',
      'iifname vmap @egress',
      'oifname vmap @ingress',
    ]),
    renderBlock('chain input', [
      'type filter hook input priority filter; policy accept;',
      `iifname != ${EVERY_BRIDGE} accept`,
      'jump replies',
      `ip daddr ${HOST_ADDRESS} icmp type echo-request accept`,
      'counter drop comment "guest to host"',
    ]),
    renderBlock('chain output', [
      'type filter hook output priority filter; policy accept;',
      `oifname != ${EVERY_BRIDGE} accept`,
      'oifname != @bridges counter drop',
      'meta nfproto != ipv4 counter drop',
      // The kernel would tell guests to talk to each other directly, which they cannot.
      'icmp type redirect drop',
      'icmp type { destination-unreachable, time-exceeded, parameter-problem } accept',
      'jump replies',
      'oifname vmap @ingress',
    ]),
  ];
}
