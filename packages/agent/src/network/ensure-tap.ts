import { refuseForeign, routeTo, withoutIpv6 } from './ensure-bridge.ts';
import { findTaps, type Link } from './links.ts';
import { tapAlias } from './names.ts';
import type { Nic } from './parse-nic.ts';
import { forgetAddress } from './remove-tap.ts';
import type { RunCommand } from './run-command.ts';

type TapOrder = { vmId: string; nic: Nic; links: readonly Link[]; mtu: number };

/**
 * A guest's tap: made here and persistent, so that it is filtered before QEMU opens it and outlives
 * QEMU's death. It is brought up last. Of several queues, which QEMU has to ask for when it opens
 * it. Who has which address is told to the kernel and never asked on the wire.
 */
export async function ensureTap(run: RunCommand, { vmId, nic, links, mtu }: TapOrder) {
  const { tap, bridge, mac, address } = nic;
  const alias = tapAlias(vmId, nic);
  const found = links.find(({ name }) => name === tap);
  refuseForeign(found, alias);
  const before = findTaps(links).find(({ name }) => name === tap);
  if (before && (before.address !== address || before.bridge !== bridge)) {
    await forgetAddress(run, before, links);
  }
  const made = found ? [] : [`tuntap add dev ${tap} mode tap multi_queue`];
  const prepared = [
    ...made,
    `link set dev ${tap} alias ${alias}`,
    `link set dev ${tap} mtu ${mtu} master ${bridge}`,
  ];
  await run('ip', ['-batch', '-'], `${prepared.join('\n')}\n`);
  await withoutIpv6(run, tap);
  const port = [
    `link set dev ${tap} isolated on learning off flood off mcast_flood off`,
    `fdb replace ${mac} dev ${tap} master static`,
  ];
  await run('bridge', ['-batch', '-'], `${port.join('\n')}\n`);
  const ready = [
    `neigh replace ${address} lladdr ${mac} nud permanent dev ${bridge}`,
    routeTo(address, nic),
    `link set dev ${tap} up`,
  ];
  await run('ip', ['-batch', '-'], `${ready.join('\n')}\n`);
}
