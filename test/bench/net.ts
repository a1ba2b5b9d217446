import { parseArgs } from 'node:util';
import { removeAbandonedHomes } from './fleet-home.ts';
import { missedGoals } from './fleet-table.ts';
import { measureChanges } from './net-changes.ts';
import { measurePatches } from './net-patches.ts';
import { measureTraffic } from './net-traffic.ts';

/**
 * What firewall rules cost, in three parts that can be asked for one by one: the way of a changed rule
 * from the agent's stream to packets, the whole way from a PATCH, and packets through a host with few
 * rules and with very many. In network namespaces; needs root and nftables.
 */
const PARTS = { changes, patches, traffic };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changes: { type: 'string', default: '40' },
    vms: { type: 'string', default: '100' },
    rules: { type: 'string', default: '1000' },
    many: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
  },
});
const unknown = positionals.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0) {
  console.error(
    `There is no part ${unknown.join(', ')}: there are ${Object.keys(PARTS).join(', ')}.`,
  );
  process.exit(2);
}

/** Told to stop, it ends what it started. */
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

function wanted() {
  const { changes: count, vms, rules } = values;
  return { changes: Number(count), vms: Number(vms), rules: Number(rules), signal };
}

function changes(): Promise<void> {
  return measureChanges(wanted());
}

function patches(): Promise<void> {
  return measurePatches(wanted());
}

function traffic(): Promise<void> {
  const { rounds, seconds, many } = values;
  const sizes = { rounds: Number(rounds), seconds: Number(seconds), rules: Number(many) };
  return measureTraffic({ ...sizes, signal });
}
