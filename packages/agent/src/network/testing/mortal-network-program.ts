/**
 * The network part of one agent process: it applies one firewall after the other, and prints a line
 * when it starts and after each one that is complete. Without a number of turns it runs until it is
 * killed.
 */
import type { Firewall } from '../../host-driver.ts';
import { createHostNetwork } from '../host-network.ts';
import { bringUp } from './bring-up.ts';

export type MortalNetworkOrder = {
  netns: string;
  uplink: string;
  /** Applied in turn, starting with the first. */
  firewalls: readonly Firewall[];
  turns: number | null;
};

const order = JSON.parse(process.argv[2] ?? '') as MortalNetworkOrder;
const { netns, uplink, firewalls, turns } = order;
const network = createHostNetwork({ netns, uplink });
const everyInterface = new Set(
  firewalls.flatMap(({ interfaces }) => interfaces.map(({ id }) => id)),
);

process.stdout.write('begun\n');
for (let turn = 0; turns === null || turn < turns; turn += 1) {
  const firewall = firewalls[turn % firewalls.length];
  if (!firewall) throw new Error('BUG: no firewall to apply');
  const wanted = new Set(firewall.interfaces.map(({ id }) => id));
  for (const id of everyInterface) if (!wanted.has(id)) await network.removeInterfaces(`vm-${id}`);
  await bringUp(network, firewall);
  process.stdout.write('whole\n');
}
