import { formatIpv4, parseCidr } from '@gantry/model/cidr';
import { BRIDGE_PREFIX, HOST_ADDRESS } from './names.ts';
import { quote, renderBlock, renderSet } from './nft-text.ts';
import type { Nic } from './parse-nic.ts';
import { mergeRanges } from './ranges.ts';
import { assignZones } from './zones.ts';

const EVERY_BRIDGE = quote(`${BRIDGE_PREFIX}*`);

/** Keeps the networks' connections apart, and leads replies from outside back into their network. */
export function renderRouting(nics: readonly Nic[], uplink: string | null): string[] {
  const zones = assignZones(nics.map((nic) => nic.networkId));
  return [
    renderSet({
      ...{ kind: 'map', name: 'zones', of: 'typeof iifname : ct zone' },
      elements: nics.map(({ bridge, networkId }) => `${quote(bridge)} : ${zones.get(networkId)}`),
    }),
    renderSet({
      ...{ kind: 'set', name: 'inside', of: 'type mark . ipv4_addr', isOfRanges: true },
      elements: listInside(nics),
    }),
    renderSet({
      ...{ kind: 'set', name: 'networks', of: 'type mark' },
      elements: nics.map(({ mark }) => `${mark}`),
    }),
    renderBlock('chain zone_arriving', [
      'type filter hook prerouting priority raw; policy accept;',
      'meta mark . ip daddr @inside ct zone set iifname map @zones accept',
      // Replies from outside come to the host's or a public address, in no network's zone.
      'ct original zone set iifname map @zones',
    ]),
    renderBlock('chain zone_leaving', [
      'type filter hook output priority raw; policy accept;',
      'ct zone set oifname map @zones',
    ]),
    renderBlock('chain mark_arriving', [
      'type filter hook prerouting priority mangle; policy accept;',
      `iifname ${EVERY_BRIDGE} ct mark set meta mark accept`,
      ...(uplink === null
        ? []
        : [
            `iifname ${quote(uplink)} ct direction reply ct mark @networks meta mark set ct mark accept`,
            `iifname ${quote(uplink)} meta mark set ip daddr map @public_marks`,
          ]),
    ]),
  ];
}

/** What a guest reaches without leaving its network, the host included. */
function listInside(nics: readonly Nic[]): string[] {
  return [...new Set(nics.map(({ mark }) => mark))].flatMap((mark) => {
    const subnets = nics.filter((nic) => nic.mark === mark).map(({ subnet }) => subnet);
    const blocks = [...subnets, `${HOST_ADDRESS}/32`].flatMap((text) => parseCidr(text) ?? []);
    return mergeRanges(blocks).map(
      ({ first, last }) => `${mark} . ${formatIpv4(first)}-${formatIpv4(last)}`,
    );
  });
}
