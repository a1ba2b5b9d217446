import { run } from '../workspace.mjs';

/** The time of the commit in milliseconds, so that the same commit gives the same bytes. */
export async function readReleaseDate() {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch !== undefined) return Number(epoch) * 1_000;
  const { ok, output } = await run('git', ['log', '-1', '--format=%ct'], { quiet: true });
  if (!ok) throw new Error('This is no Git checkout: set SOURCE_DATE_EPOCH, a time in seconds.');
  return Number(output) * 1_000;
}
