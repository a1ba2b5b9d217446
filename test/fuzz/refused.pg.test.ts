import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Digest, digestRows } from './digest.ts';
import { OPERATIONS } from './document.ts';
import { fail, holds } from './property.ts';
import { anyRequest } from './requests.ts';
import { RUNS, SEED, seedOf, TIMEOUT_MS } from './settings.ts';
import { type Subject, startSubject } from './subject.ts';
import { makeWorld, type World } from './world.ts';

/** A refused request must write nothing: all rows are compared. */
let subject: Subject;
let world: World;
let rows: Digest;

beforeAll(async () => {
  subject = await startSubject();
  world = await makeWorld(subject.api);
  rows = await digestRows(subject.api.sql);
});
afterAll(() => subject.api.stop());

const WRITES = OPERATIONS.filter(({ method }) => method !== 'GET');

it(`a refused request changes nothing (seed ${SEED})`, { timeout: TIMEOUT_MS }, async () => {
  let refused = 0;
  await holds({
    arbitrary: fc.constantFrom(...WRITES).chain(anyRequest),
    seed: seedOf('refused'),
    runs: RUNS * 12,
    async examine(plan) {
      const exchange = await subject.send(plan, world);
      const before = rows;
      rows = await digestRows(subject.api.sql);
      if (exchange.status === 200) return;
      refused += 1;
      const changed = Object.keys(rows).filter((table) => rows[table] !== before[table]);
      if (changed.length > 0) fail([`refused, but changed ${changed}`], exchange);
    },
  });
  expect(refused).toBeGreaterThan(RUNS);
});
