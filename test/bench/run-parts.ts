import { removeAbandonedHomes } from './fleet/home.ts';
import { missedGoals } from './fleet/table.ts';

type Parts = Record<string, (signal: AbortSignal) => Promise<void>>;

/**
 * Runs the selected parts of a benchmark, or all of them, one after the other. The exit code says
 * whether they met their goals. If it is asked to stop, it ends what it started; if it is killed,
 * its child processes end by themselves.
 */
export async function runParts(parts: Parts, asked: readonly string[]): Promise<void> {
  const unknown = asked.filter((part) => !Object.hasOwn(parts, part));
  if (unknown.length > 0) {
    const known = Object.keys(parts).join(', ');
    console.error(`There is no part ${unknown.join(', ')}: there are ${known}.`);
    process.exit(2);
  }
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => stopping.abort(new Error('stopped before its end')));
  }
  await removeAbandonedHomes();
  try {
    for (const [name, measure] of Object.entries(parts)) {
      if (asked.length > 0 && !asked.includes(name)) continue;
      console.log(`\n${name}`);
      await measure(signal);
    }
    process.exitCode = missedGoals() > 0 ? 1 : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error(signal.reason.message);
    process.exitCode = 1;
  }
}
