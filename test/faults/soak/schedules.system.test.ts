import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Reliability } from './reliability.ts';
import { CloudUnderLoad } from './schedule.ts';
import { BusyCloud } from './standstills.ts';

/**
 * Random requests and random faults on real processes. `npm test` runs a few schedules with a fixed
 * seed; `npm run soak -- --minutes 60` runs them for that long and writes docs/reliability.md.
 */
const MINUTES = Number(process.env['GANTRY_SOAK_MINUTES'] ?? '0');
const SEED = Number(process.env['GANTRY_SOAK_SEED'] ?? '1');
const SCHEDULES = Number(process.env['GANTRY_SOAK_SCHEDULES'] ?? '2');
const PAGE = path.resolve(import.meta.dirname, '../../../docs/reliability.md');
/** A schedule takes seconds. After a fault it may wait for the limits of dead connections. */
const SCHEDULE_LIMIT_MS = 240_000;
const STANDSTILLS_LIMIT_MS = 600_000;
const RESTARTS = 3;

let subject: CloudUnderLoad | null = null;
afterAll(async () => await subject?.stop());

it('no invariant is broken after any schedule of requests and faults', {
  timeout: MINUTES * 60_000 + SCHEDULE_LIMIT_MS + STANDSTILLS_LIMIT_MS,
}, async () => {
  const reliability = new Reliability({ seed: SEED, minutes: MINUTES });
  const endMs = performance.now() + MINUTES * 60_000;
  const isOver = (done: number) => (MINUTES > 0 ? performance.now() > endMs : done >= SCHEDULES);
  for (let i = 0; !isOver(i); i += 1) {
    subject ??= await CloudUnderLoad.start(SEED + i);
    const outcome = await subject.run(SEED + i);
    reliability.add(outcome);
    if (outcome.problems.length === 0) continue;
    // A cloud that is broken proves nothing more.
    await subject.stop();
    subject = null;
  }
  reliability.addReplies(subject?.outcomes ?? new Map());
  await subject?.stop();
  subject = null;
  if (MINUTES > 0) {
    await measureStandstills(reliability);
    writeFileSync(PAGE, reliability.page());
  }
  expect(reliability.broken()).toEqual([]);
});

/** On a cloud of its own, which has the settings of production. */
async function measureStandstills(reliability: Reliability): Promise<void> {
  const cloud = await BusyCloud.start();
  try {
    for (let i = 0; i < RESTARTS; i += 1) reliability.addStandstills(await cloud.restartPostgres());
    reliability.addStandstills(...(await cloud.suspendScheduler({ forMs: 60_000 })));
  } finally {
    await cloud.stop();
  }
}
