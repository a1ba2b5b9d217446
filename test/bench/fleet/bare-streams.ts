import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KIB } from '@gantry/daemon/units';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import type { BenchProcess } from './process.ts';
import { type Start, startBareHosts } from './start-hosts.ts';

type BareFleet = {
  hosts: number;
  processes: number;
  home: string;
  env: Record<string, string>;
  start: Start;
  signal: AbortSignal;
};

/** Returns the memory that a server needs for a stream with TLS and nothing else, in KiB. */
export async function measureBareStreams(fleet: BareFleet): Promise<number> {
  const { hosts, start, env, signal } = fleet;
  const program = path.join(import.meta.dirname, 'bare-scheduler.ts');
  const args = [...unitFlags('gantry-scheduler'), '--import', 'tsx', program];
  const scheduler = await start('bare-scheduler', args, env);
  const peers = await startBareHosts({ ...fleet, scheduler });
  const before = await scheduler.usage();
  await Promise.all(peers.map(attachAll));
  await delay(5_000, undefined, { signal });
  const after = await scheduler.usage();
  await Promise.all([scheduler, ...peers].map((one) => one.stop()));
  return (after.rss - before.rss) / KIB / hosts;
}

function attachAll(peer: BenchProcess): Promise<void> {
  return new Promise((resolve) => {
    peer.on(({ attached }) => {
      if (attached !== undefined) resolve();
    });
    peer.send({ begin: true });
  });
}
