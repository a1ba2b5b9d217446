import { parseArgs } from 'node:util';
import { measureAttached } from './fleet/attached.ts';
import { measureFirstPlacement } from './fleet/first-placement.ts';
import { removeAbandonedHomes } from './fleet/home.ts';
import { missedGoals } from './fleet/table.ts';

/**
 * Measures the cost of a large fleet in parts that can be run one by one: decisions in memory, placements
 * committed in large batches and one by one, the start of a scheduler, and hosts that are attached to one.
 */
const PARTS = ['decisions', 'placements', 'steady', 'start', 'attached'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    hosts: { type: 'string', default: '10000' },
    processes: { type: 'string', default: '4' },
    idle: { type: 'string', default: '60' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '60' },
    members: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
    profiles: { type: 'string' },
    statements: { type: 'boolean', default: false },
  },
});
const wanted = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part));
const unknown = positionals.filter((part) => !PARTS.some((known) => known === part));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}: there are ${PARTS.join(', ')}.`);
  process.exit(2);
}

await removeAbandonedHomes();
process.env['BENCH_ROUNDS'] = values.rounds;
let failed = false;
for (const part of wanted) {
  console.log(`\n${part}`);
  // The first ones are separate programs. Their exit codes say whether they met their goals.
  if (part === 'decisions') await import('./placement/decisions.ts');
  if (part === 'placements') await import('./placement/commits.ts');
  if (part === 'steady') await import('./placement/steady.ts');
  if (part === 'start') await untilStopped(start);
  if (part === 'attached') await untilStopped(attached);
  failed ||= process.exitCode === 1;
}
process.exitCode = failed || missedGoals() > 0 ? 1 : 0;

/**
 * If it is asked to stop, it ends what it started. If it is killed, its child processes end by
 * themselves.
 */
async function untilStopped(measure: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('stopped before its end'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  try {
    await measure(stopping.signal);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    console.error(stopping.signal.reason.message);
    process.exitCode = 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
}

async function start(signal: AbortSignal): Promise<void> {
  await measureFirstPlacement({
    ...{ hosts: Number(values.hosts), rounds: Number(values.rounds), signal },
  });
}

async function attached(signal: AbortSignal): Promise<void> {
  await measureAttached({
    ...{ hosts: Number(values.hosts), processes: Number(values.processes) },
    ...{ idleSeconds: Number(values.idle), rates: values.rate.split(',').map(Number) },
    ...{ seconds: Number(values.seconds), members: Number(values.members), signal },
    ...{ profiles: values.profiles, statements: values.statements },
  });
}
