import type { Link } from '../kernel/links.ts';
import { tapAlias } from '../kernel/names.ts';
import type { Nic } from '../parse-interface.ts';
import { refuseForeign, routeTo } from './plan-bridge.ts';

/**
 * `ip` commands before the tap is up, `bridge` commands for its port, and `ip` commands to bring it
 * up.
 */
export type TapPlan = { made: string[]; port: string[]; up: string[] };

/**
 * Plans a guest's tap. It is persistent, so that it is filtered before QEMU opens it and outlives
 * QEMU. It is brought up last. It has several queues, and QEMU must ask for them when it opens it.
 * The kernel is told the addresses and never asks for them on the wire.
 */
export function planTap(
  nic: Nic,
  { vmId, links, mtu }: { vmId: string; links: readonly Link[]; mtu: number },
): TapPlan {
  const { tap, bridge, mac, address } = nic;
  const alias = tapAlias(vmId, nic);
  const found = links.find(({ name }) => name === tap);
  refuseForeign(found, alias);
  return {
    made: [
      ...(found ? [] : [`tuntap add dev ${tap} mode tap multi_queue`]),
      `link set dev ${tap} alias ${alias}`,
      `link set dev ${tap} mtu ${mtu} master ${bridge}`,
    ],
    port: [
      `link set dev ${tap} isolated on learning off flood off mcast_flood off`,
      `fdb replace ${mac} dev ${tap} master static`,
    ],
    up: [
      `neigh replace ${address} lladdr ${mac} nud permanent dev ${bridge}`,
      routeTo(address, nic),
      `link set dev ${tap} up`,
    ],
  };
}
