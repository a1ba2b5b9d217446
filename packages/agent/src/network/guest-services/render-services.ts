import { BRIDGE_PREFIX, HOST_ADDRESS, TAP_PREFIX, tapName } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import {
  assignServiceAddresses,
  METADATA_ADDRESS,
  SERVICE_BLOCK,
  SERVICE_PORT,
} from '../kernel/service-addresses.ts';
import type { VmInterface } from '../parse-interface.ts';

const EVERY_BRIDGE = quote(`${BRIDGE_PREFIX}*`);
/** A guest that boots requests a few files; the limit keeps the cost of endless requests low. */
const RATE = 'rate 100/second burst 200 packets';

type Served = VmInterface & { service: string };

function listServed(interfaces: readonly VmInterface[]): Served[] {
  const addresses = assignServiceAddresses(interfaces.map(({ id }) => id));
  return interfaces.flatMap((iface) => {
    const service = addresses.get(iface.id);
    return service === undefined ? [] : [{ ...iface, service }];
  });
}

/** A guest requests its address before it has one, and renews it with and without a route. */
export const FROM_GUEST_WITHOUT_ADDRESS =
  'ip saddr 0.0.0.0 ip daddr 255.255.255.255 udp sport 68 udp dport 67 goto to_agent';
export const FROM_GUEST_WITH_ADDRESS = `ip daddr { 255.255.255.255, ${METADATA_ADDRESS} } goto to_host`;

/** On the taps: guests' requests go to the agent with the source address of their interface. */
export function renderServiceSteering(interfaces: readonly VmInterface[]): string[] {
  const served = listServed(interfaces);
  return [
    ...[...new Set(interfaces.map(({ id }) => limitOf(id)))].map((limit) =>
      renderBlock(`limit ${limit}`, [RATE]),
    ),
    renderSet({
      ...{ kind: 'map', name: 'limits', of: 'type ifname : limit' },
      elements: interfaces.map(({ id, tap }) => `${quote(tap)} : ${quote(limitOf(id))}`),
    }),
    renderSet({
      ...{ kind: 'map', name: 'services', of: 'type ifname : ipv4_addr' },
      elements: served.map(({ tap, service }) => `${quote(tap)} : ${service}`),
    }),
    renderBlock('chain to_host', [
      'udp sport 68 udp dport 67 goto to_agent',
      `ip daddr ${METADATA_ADDRESS} tcp dport 80 goto to_agent`,
      // Also blocks a service behind the uplink that the host itself uses.
      'counter drop comment "no such service"',
    ]),
    renderBlock('chain to_agent', [
      'limit name iifname map @limits goto to_agent_as_tap',
      'counter drop comment "asks too often"',
    ]),
    renderBlock('chain to_agent_as_tap', [
      `ip saddr set iifname map @services ip daddr set ${HOST_ADDRESS} meta mark set iifname map @marks`,
      `ip saddr ${SERVICE_BLOCK} tcp dport set ${SERVICE_PORT} accept`,
      `ip saddr ${SERVICE_BLOCK} udp dport set ${SERVICE_PORT} accept`,
      'drop',
    ]),
    renderBlock('chain leaving', [
      'type filter hook output priority 0; policy accept;',
      // For a client that set the broadcast flag; the flag is in the reply too. Sent only to its
      // hardware address.
      `ip saddr ${METADATA_ADDRESS} udp sport 67 @th,144,16 0x8000 ip daddr set 255.255.255.255`,
    ]),
  ];
}

const limitOf = (interfaceId: string) => tapName(interfaceId).replace(TAP_PREFIX, 'limit_');

/**
 * Above the taps: to the agent and back. Nothing is tracked, because every interface has its own
 * address here. The same table that set the source address on the way in sends the reply to the
 * interface.
 */
export function renderServices(interfaces: readonly VmInterface[]): string[] {
  const served = listServed(interfaces);
  const withPorts = 'meta l4proto { tcp, udp }';
  return [
    renderSet({
      ...{ kind: 'map', name: 'service_marks', of: 'type ipv4_addr : mark' },
      elements: served.map(({ service, mark }) => `${service} : ${mark}`),
    }),
    renderSet({
      ...{ kind: 'map', name: 'service_guests', of: 'type ipv4_addr : ipv4_addr' },
      elements: served.map(({ service, address }) => `${service} : ${address}`),
    }),
    renderBlock('chain service_arriving', [
      'type filter hook prerouting priority raw - 20; policy accept;',
      `iifname ${EVERY_BRIDGE} ip saddr ${SERVICE_BLOCK} notrack`,
    ]),
    renderBlock('chain service_input', [
      'type filter hook input priority filter - 5; policy accept;',
      `iifname != ${EVERY_BRIDGE} ip daddr ${HOST_ADDRESS} ${withPorts} th dport ${SERVICE_PORT} counter drop comment "not a guest"`,
    ]),
    renderBlock('chain service_forward', [
      'type filter hook forward priority filter - 5; policy accept;',
      `oifname ${EVERY_BRIDGE} ip saddr ${METADATA_ADDRESS} counter drop comment "not this host's service"`,
      // Resolving so many addresses on the wire would fill the host's neighbour table.
      `oifname ${EVERY_BRIDGE} ip daddr ${SERVICE_BLOCK} counter drop comment "nobody's address"`,
    ]),
    renderBlock('chain service_leaving', [
      'type route hook output priority raw - 20; policy accept;',
      `ip saddr ${HOST_ADDRESS} ip daddr ${SERVICE_BLOCK} ${withPorts} th sport ${SERVICE_PORT} goto service_reply`,
      `oifname ${EVERY_BRIDGE} ip daddr ${SERVICE_BLOCK} drop`,
    ]),
    renderBlock('chain service_reply', [
      `notrack meta mark set ip daddr map @service_marks ip daddr set ip daddr map @service_guests ip saddr set ${METADATA_ADDRESS}`,
      `ip saddr ${METADATA_ADDRESS} tcp sport set 80 accept`,
      `ip saddr ${METADATA_ADDRESS} udp sport set 67 accept`,
      'counter drop comment "to nobody here"',
    ]),
  ];
}

/**
 * For the chains that filter everything between guests and the host; comes before connection
 * tracking is used.
 */
export const SERVICE_INPUT = `ct state untracked ip saddr ${SERVICE_BLOCK} ip daddr ${HOST_ADDRESS} meta l4proto { tcp, udp } th dport ${SERVICE_PORT} accept`;
export const SERVICE_OUTPUT = `ct state untracked ip saddr ${METADATA_ADDRESS} accept`;
