import { BRIDGE_PREFIX, HOST_ADDRESS } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import type { VmInterface } from '../parse-interface.ts';
import type { Subnet } from '../parse-network.ts';

/** A public address belongs to one interface; other guests leave with the uplink's address. */
export function renderNat(nat: {
  interfaces: readonly VmInterface[];
  subnets: readonly Subnet[];
  uplink: string | null;
}): string[] {
  const { interfaces, subnets, uplink } = nat;
  const published = interfaces.filter(({ publicAddress }) => publicAddress !== null);
  const gateways = [...interfaces.filter(({ gateway }) => gateway !== null), ...subnets];
  const arriving = [
    'type nat hook prerouting priority dstnat; policy accept;',
    // The gateway's address is not the host's own, but guests expect it to reply to pings.
    `iifname ${quote(`${BRIDGE_PREFIX}*`)} meta mark . ip daddr @gateways icmp type echo-request dnat ip to ${HOST_ADDRESS}`,
  ];
  const gatewaySet = renderSet({
    ...{ kind: 'set', name: 'gateways', of: 'type mark . ipv4_addr' },
    elements: gateways.map(({ mark, gateway }) => `${mark} . ${gateway}`),
  });
  if (uplink === null) return [gatewaySet, renderBlock('chain nat_arriving', arriving)];
  return [
    gatewaySet,
    renderSet({
      ...{ kind: 'map', name: 'public_marks', of: 'type ipv4_addr : mark' },
      elements: published.map(({ publicAddress, mark }) => `${publicAddress} : ${mark}`),
    }),
    renderSet({
      ...{ kind: 'map', name: 'private_of', of: 'type ipv4_addr : ipv4_addr' },
      elements: published.map(({ publicAddress, address }) => `${publicAddress} : ${address}`),
    }),
    renderSet({
      ...{ kind: 'map', name: 'public_of', of: 'type mark . ipv4_addr : ipv4_addr' },
      elements: published.map(
        (iface) => `${iface.mark} . ${iface.address} : ${iface.publicAddress}`,
      ),
    }),
    renderBlock('chain nat_arriving', [
      ...arriving,
      `iifname ${quote(uplink)} dnat ip to ip daddr map @private_of`,
    ]),
    renderBlock('chain nat_leaving', [
      'type nat hook postrouting priority srcnat; policy accept;',
      `oifname ${quote(uplink)} snat ip to meta mark . ip saddr map @public_of`,
      `oifname ${quote(uplink)} meta mark @networks masquerade`,
    ]),
  ];
}
