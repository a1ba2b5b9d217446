import { parseArgs } from 'node:util';
import { removeAbandonedHomes } from './fleet-home.ts';
import { missedGoals } from './fleet-table.ts';
import { measureCalls } from './host-calls.ts';
import { measureIdle } from './host-idle.ts';
import { measureStarts } from './host-starts.ts';

/**
 * What the agent costs a host that runs real VMs, in three parts that can be asked for one by one:
 * the way from a spec to a running guest, calls of libvirt beside virsh, and an agent at rest. Needs
 * root and what `deploy/prepare-host.sh` installs.
 */
const PARTS = { starts, calls, idle };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    starts: { type: 'string', default: '9' },
    rounds: { type: 'string', default: '5' },
    domains: { type: 'string', default: '20' },
    idle: { type: 'string', default: '60' },
    vms: { type: 'string', default: '2' },
  },
});
const unknown = positionals.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0) {
  console.error(
    `There is no part ${unknown.join(', ')}: there are ${Object.keys(PARTS).join(', ')}.`,
  );
  process.exit(2);
}

/** Told to stop, it ends what it started; killed, that ends by itself. */
const stopping = new AbortController();
const { signal } = stopping;
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => stopping.abort(new Error('stopped before its end')));
}

await removeAbandonedHomes();
try {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    console.log(`\n${name}`);
    await measure();
  }
  process.exitCode = missedGoals() > 0 ? 1 : 0;
} catch (error) {
  if (!signal.aborted) throw error;
  console.error(signal.reason.message);
  process.exitCode = 1;
}

function starts(): Promise<void> {
  return measureStarts({ rounds: Number(values.starts), signal });
}

function calls(): Promise<void> {
  return measureCalls({ rounds: Number(values.rounds), domains: Number(values.domains), signal });
}

/** Each round is as long as was asked for, and there are three, as many as a median needs. */
function idle(): Promise<void> {
  return measureIdle({ rounds: 3, seconds: Number(values.idle), vms: Number(values.vms), signal });
}
