// npm run soak -- --minutes N [--seed S]: builds, runs random schedules of requests and faults for
// N minutes, and writes docs/reliability.md.
import { build } from './build.mjs';
import { run, tool } from './workspace.mjs';

const { minutes, seed } = readArguments(process.argv.slice(2));
await build();
process.env.GANTRY_SOAK_MINUTES = `${minutes}`;
process.env.GANTRY_SOAK_SEED = `${seed}`;
const test = 'test/faults/soak/schedules.system.test.ts';
const { ok } = await run(tool('vitest'), ['run', '--project', 'system', test]);
process.exitCode = ok ? 0 : 1;

function readArguments(given) {
  const read = (name, fallback) => {
    const at = given.indexOf(`--${name}`);
    const value = at < 0 ? fallback : Number(given[at + 1]);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0`);
    return value;
  };
  return { minutes: read('minutes', 60), seed: read('seed', 1) };
}
