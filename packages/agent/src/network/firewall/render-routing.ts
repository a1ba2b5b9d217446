import { formatIpv4, parseCidr } from '@gantry/model/cidr';
import { HOST_ADDRESS } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import type { VmInterface } from '../parse-interface.ts';
import type { Subnet } from '../parse-network.ts';
import { mergeRanges } from './ranges.ts';

/** What guests request from the host itself. */
const NEEDS_NO_ZONE = 'ct state untracked accept';

/** Separates the networks' connections, and routes replies from outside back into their network. */
export function renderRouting(routing: {
  interfaces: readonly VmInterface[];
  subnets: readonly Subnet[];
  zones: ReadonlyMap<string, number>;
  uplink: string | null;
}): string[] {
  const { interfaces, subnets, zones, uplink } = routing;
  return [
    renderSet({
      ...{ kind: 'map', name: 'zones', of: 'typeof iifname : ct zone' },
      elements: interfaces.map(
        ({ bridge, networkId }) => `${quote(bridge)} : ${zones.get(networkId)}`,
      ),
    }),
    renderSet({
      ...{ kind: 'map', name: 'networks_of_zones', of: 'typeof ct zone : meta mark' },
      elements: interfaces.map(({ mark, networkId }) => `${zones.get(networkId)} : ${mark}`),
    }),
    renderSet({
      ...{ kind: 'set', name: 'inside', of: 'type mark . ipv4_addr', isOfRanges: true },
      elements: listInside(interfaces, subnets),
    }),
    renderSet({
      ...{ kind: 'set', name: 'networks', of: 'type mark' },
      elements: interfaces.map(({ mark }) => `${mark}`),
    }),
    renderBlock('chain zone_arriving', [
      'type filter hook prerouting priority raw; policy accept;',
      NEEDS_NO_ZONE,
      'meta mark . ip daddr @inside ct zone set iifname map @zones accept',
      // Replies from outside arrive at the host's or a public address, in no network's zone.
      'ct original zone set iifname map @zones',
    ]),
    renderBlock('chain zone_leaving', [
      'type filter hook output priority raw; policy accept;',
      NEEDS_NO_ZONE,
      'ct zone set oifname map @zones',
    ]),
    renderBlock('chain mark_arriving', [
      'type filter hook prerouting priority mangle; policy accept;',
      ...(uplink === null
        ? []
        : [
            `iifname ${quote(uplink)} ct direction reply meta mark set ct original zone map @networks_of_zones accept`,
            `iifname ${quote(uplink)} meta mark set ip daddr map @public_marks`,
          ]),
    ]),
  ];
}

/** Returns what a guest reaches without leaving its network, the host included. */
function listInside(interfaces: readonly VmInterface[], subnets: readonly Subnet[]): string[] {
  const partitions = [
    ...interfaces.map(({ mark, subnet }) => ({ mark, cidr: subnet })),
    ...subnets,
  ];
  return [...new Set(interfaces.map(({ mark }) => mark))].flatMap((mark) => {
    const cidrs = partitions.filter((partition) => partition.mark === mark).map(({ cidr }) => cidr);
    const prefixes = [...cidrs, `${HOST_ADDRESS}/32`].flatMap((text) => parseCidr(text) ?? []);
    return mergeRanges(prefixes).map(
      ({ first, last }) => `${mark} . ${formatIpv4(first)}-${formatIpv4(last)}`,
    );
  });
}
