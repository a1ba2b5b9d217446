import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { HAPPENINGS } from './steps.ts';
import { World } from './world.ts';

/**
 * Any sequence of requests, crashes, restarts, lost and repeated messages leaves no GPU, drive or
 * address with two owners, no claim without an owner, every operation ended, and the database and
 * the hosts in agreement. What always holds is checked after every step; the rest once everything
 * was healed; and at the end of a run the tenant removes all there is, which must leave nothing.
 *
 * The seed fixes the steps, not how the processes interleave: a red run may need several tries to
 * come again.
 */
const given = process.env['GANTRY_PROPERTY_SEED'] ?? '1';
const SEED = given === 'random' ? randomInt(2 ** 31) : Number(given);
const RUNS = Number(process.env['GANTRY_PROPERTY_RUNS'] ?? '6');
const STEPS: fc.ArrayConstraints = { maxLength: 50, size: 'max' };
/** Creates resources for the steps to act on. */
const BEGINNING: Step[] = [
  { what: 'createVm', which: 0, how: 0 },
  { what: 'createVm', which: 1, how: 1 },
  { what: 'createDisk', which: 0, how: 0 },
  { what: 'createDisk', which: 2, how: 1 },
  { what: 'rest', which: 0, how: 0 },
];
/** Several times the duration of a run on two busy cores. */
const RUN_MS = 120_000;
/** How long to search for a shorter sequence after a failure. */
const SHRINK_MS = Number(process.env['GANTRY_PROPERTY_SHRINK_MS'] ?? '60000');

type Step = { what: string; which: number; how: number };

const step = fc.record({
  what: fc.oneof(
    ...Object.entries(HAPPENINGS).map(([name, { weight }]) => ({
      weight,
      arbitrary: fc.constant(name),
    })),
  ),
  which: fc.nat(7),
  how: fc.nat(7),
});

let world: World | null = null;
let failedAt = Number.POSITIVE_INFINITY;
afterAll(async () => await world?.stop());

it('after any sequence of faults no device has two owners, every operation ends, and database and hosts agree', {
  timeout: RUNS * RUN_MS + SHRINK_MS + RUN_MS,
}, async () => {
  const result = await fc.check(fc.asyncProperty(fc.array(step, STEPS), survives), {
    ...{ seed: SEED, numRuns: RUNS, unbiased: true },
  });
  if (!result.failed) return;
  const steps = result.counterexample?.[0].map(show).join('\n') ?? '';
  const why = result.errorInstance instanceof Error ? result.errorInstance.message : '';
  expect.fail(
    `${why}\n\nafter these steps (run ${result.numRuns}, shrunk ${result.numShrinks} times; again with ` +
      `GANTRY_PROPERTY_SEED=${SEED} GANTRY_PROPERTY_RUNS=${result.numRuns}):\n${steps}`,
  );
});

/** A world that failed is broken and proves nothing more, so the next run gets another. */
async function survives(steps: Step[]): Promise<void> {
  if (performance.now() > failedAt + SHRINK_MS) return;
  world ??= await World.start();
  const subject = world;
  try {
    for (const { what, which, how } of [...BEGINNING, ...steps]) {
      await HAPPENINGS[what]?.run(subject, which, how);
      await subject.check();
    }
    await subject.heal();
    await subject.settle();
    await subject.empty();
  } catch (error) {
    failedAt = Math.min(failedAt, performance.now());
    world = null;
    await subject.stop();
    throw error;
  }
}

function show({ what, which, how }: Step): string {
  return `  ${what}(${which}, ${how})`;
}
