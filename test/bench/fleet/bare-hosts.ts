import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { channelCredentials } from '@gantry/agent/identity/identity';
import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { loadFleet } from '@gantry/proto/load';
import type { HostsInput } from './hosts.ts';

/** The peers of the bare scheduler: each has a certificate, a TLS connection and a stream of its own. */
const COMING = 24;
const { caPem, hosts }: HostsInput = JSON.parse(
  readFileSync(process.env['BENCH_HOSTS_FILE'] ?? '', 'utf8'),
);
const address = process.env['BENCH_SCHEDULER'] ?? '';

await runProcess({
  log: createLog({ process: 'bare-hosts', level: 'warn' }),
  start: async () => {
    const Fleet = loadFleet();
    const held: object[] = [];
    const waiting = hosts.values();
    const come = async () => {
      for (const { name: _, ...identity } of waiting) {
        const client = new Fleet(address, channelCredentials({ ...identity, caPem }));
        const stream = client.Attach();
        const attached = once(stream, 'data');
        stream.write({});
        await attached;
        held.push(stream);
      }
    };
    process.once('message', async () => {
      await Promise.all(Array.from({ length: COMING }, come));
      process.send?.({ attached: held.length });
    });
    return { stop: async () => process.exit() };
  },
});
