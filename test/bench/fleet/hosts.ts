import { readFileSync } from 'node:fs';
import type { Identity } from '@gantry/agent/identity/identity';
import type { Connect } from '@gantry/agent/link/link';
import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { loadFleet } from '@gantry/proto/load';
import { DiskStore } from '@gantry/simulator/driver/disk-store';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { inventoryOfHost, simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { MemoryLedger } from '@gantry/testkit/hosts/memory-ledger';

/**
 * Thousands of simulated hosts in one process, each with the real agent, a certificate, a TLS
 * connection and a stream of its own. Ledgers are in memory; guests boot in no time.
 */
export type HostsInput = { caPem: string; hosts: (Omit<Identity, 'caPem'> & { name: string })[] };

/** The number of hosts that attach at the same time. */
const COMING = 24;

const log = createLog({ process: 'hosts', level: process.env['GANTRY_LOG_LEVEL'] ?? 'warn' });
const { caPem, hosts }: HostsInput = JSON.parse(
  readFileSync(process.env['BENCH_HOSTS_FILE'] ?? '', 'utf8'),
);
const address = process.env['BENCH_SCHEDULER'] ?? '';

await runProcess({
  log,
  start: async () => {
    const model = SERVER_MODELS.find(({ name }) => name === process.env['BENCH_MODEL']);
    if (!model) throw new Error(`there is no server model ${process.env['BENCH_MODEL']}`);
    const inventory = { ...(await simulatedInventory(model)), sharedStorage: true };
    const fleet = loadFleet();
    // One disk store for all, because the hosts of the location share their storage.
    const disks = new DiskStore();
    const started: SimulatedHost[] = [];
    const waiting = hosts.values();
    const come = async () => {
      for (const { name, ...identity } of waiting) {
        const { wrapLink, attached } = watchLink();
        const host = new SimulatedHost({
          ...{ fleet, log, wrapLink, address: () => address },
          driver: new SimulatedHostDriver({ inventory: inventoryOfHost(inventory, name), disks }),
          ledger: new MemoryLedger(),
          identity: { ...identity, caPem },
        });
        started.push(host);
        await host.start();
        await attached;
      }
    };
    process.once('message', async () => {
      await Promise.all(Array.from({ length: COMING }, come));
      process.send?.({ attached: started.length });
    });
    return { stop: async () => process.exit() };
  },
});

/** Resolves when the host has its first spec. */
function watchLink(): { wrapLink: (connect: Connect) => Connect; attached: Promise<void> } {
  let tell: () => void = () => {};
  const attached = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const wrapLink =
    (connect: Connect): Connect =>
    (peer) =>
      connect({
        attached: () => peer.attached(),
        received(spec) {
          tell();
          peer.received(spec);
        },
        receivedMembers: (networkId, members) => peer.receivedMembers(networkId, members),
      });
  return { wrapLink, attached };
}
