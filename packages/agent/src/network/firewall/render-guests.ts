import {
  FROM_GUEST_WITH_ADDRESS,
  FROM_GUEST_WITHOUT_ADDRESS,
  renderServiceSteering,
} from '../guest-services/render-services.ts';
import { TAP_PREFIX } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import type { VmInterface } from '../parse-interface.ts';

/**
 * What may leave a guest, decided on its tap before anything else: its own MAC and address, in IPv4
 * and ARP. A tap that no interface of the spec names passes nothing. Passing packets get their
 * network's mark, by which they are routed: without this table they have no route.
 */
export function renderGuests(interfaces: readonly VmInterface[]): string[] {
  const passing = 'meta mark set iifname map @marks accept';
  return [
    renderSet({
      ...{ kind: 'set', name: 'stations', of: 'type ifname . ether_addr' },
      elements: interfaces.map(({ tap, mac }) => `${quote(tap)} . ${mac}`),
    }),
    renderSet({
      ...{ kind: 'set', name: 'guests', of: 'type ifname . ether_addr . ipv4_addr' },
      elements: interfaces.map(({ tap, mac, address }) => `${quote(tap)} . ${mac} . ${address}`),
    }),
    renderSet({
      ...{ kind: 'map', name: 'marks', of: 'type ifname : mark' },
      elements: interfaces.map(({ tap, mark }) => `${quote(tap)} : ${mark}`),
    }),
    ...renderServiceSteering(interfaces),
    renderBlock('chain from_guest', [
      'iifname . ether saddr != @stations counter drop comment "foreign MAC"',
      'ether type arp goto arp_from_guest',
      'icmpv6 type nd-router-advert counter drop comment "router advertisement"',
      'ether type != ip counter drop comment "neither IPv4 nor ARP"',
      'udp sport 67 counter drop comment "DHCP server"',
      FROM_GUEST_WITHOUT_ADDRESS,
      'iifname . ether saddr . ip saddr != @guests counter drop comment "foreign address"',
      FROM_GUEST_WITH_ADDRESS,
      passing,
    ]),
    renderBlock('chain arp_from_guest', [
      'arp htype != 1 counter drop comment "foreign ARP"',
      'arp ptype != ip counter drop comment "foreign ARP"',
      // A guest that probes whether its address is free sends no address of its own.
      `arp saddr ip 0.0.0.0 iifname . arp saddr ether @stations ${passing}`,
      `iifname . arp saddr ether . arp saddr ip @guests ${passing}`,
      'counter drop comment "foreign ARP"',
    ]),
    renderBlock('chain arriving', [
      'type filter hook prerouting priority -300; policy accept;',
      `iifname ${quote(`${TAP_PREFIX}*`)} jump from_guest`,
    ]),
  ];
}
