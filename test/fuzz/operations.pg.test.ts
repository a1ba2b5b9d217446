import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENT, OPERATIONS, type Operation } from './document.ts';
import { judge } from './judge.ts';
import { fail, holds } from './property.ts';
import { anyRequest, goodRequest, type Plan } from './requests.ts';
import { RUNS, SEED, seedOf, TIMEOUT_MS } from './settings.ts';
import { type Subject, startSubject } from './subject.ts';
import { makeWorld, renewWorld, type World } from './world.ts';

/**
 * Sends requests of every kind to every operation of the document and expects only documented
 * replies. Half of the requests are valid enough to reach the handlers.
 */
let subject: Subject;
let world: World;
/** Whether an earlier operation changed the fixtures. */
let changed = false;
/**
 * Fixtures are more expensive than requests. After this many new fixtures the remaining requests
 * use the last ones.
 */
const MAX_RENEWALS = 2;
/** How many more good requests an operation gets that none has succeeded in. */
const PATIENCE = 20;

const NEEDS_SECRET = ['account.confirm-totp', 'account.remove-totp', 'invitations.accept'];
/**
 * They need a VM on a storage cluster and a second host that fits, a pool with room, or a directory for uploads: see
 * move.pg.test.ts, custom-images.pg.test.ts and uploads.pg.test.ts.
 */
const NEEDS_STORAGE = [
  ...['admin-vms.move', 'images.create', 'images.finish-upload'],
  ...['image-uploads.get', 'image-uploads.add'],
];

beforeAll(async () => {
  subject = await startSubject();
  world = await makeWorld(subject.api);
});
afterAll(() => subject.api.stop());

it('the served document is the one that is tested', async () => {
  const { body } = await subject.api.call('GET', '/openapi.json');
  expect(body).toEqual(JSON.parse(JSON.stringify(DOCUMENT)));
});

describe(`seed ${SEED}`, () => {
  for (const operation of OPERATIONS) {
    it(`${operation.id} replies as documented`, { timeout: TIMEOUT_MS }, async () => {
      if (changed) world = await renewWorld(subject.api, world);
      changed = false;
      let renewals = 0;
      // Nothing but a WebSocket, or a secret that no fixture has, succeeds there.
      let succeeded =
        !operation.replies.has(200) || [...NEEDS_SECRET, ...NEEDS_STORAGE].includes(operation.id);
      const examine = async (plan: Plan) => {
        const exchange = await subject.send(plan, world);
        const problems = judge(exchange);
        if (problems.length > 0) fail(problems, exchange);
        succeeded ||= exchange.status === 200;
        changed ||= exchange.status === 200 && plan.method !== 'GET';
        if (exchange.status !== 200 || !usesUp(operation) || renewals >= MAX_RENEWALS) return;
        renewals += 1;
        world = await renewWorld(subject.api, world);
      };
      const seed = seedOf(operation.id);
      const good = Math.ceil(RUNS / 4);
      await holds({ arbitrary: goodRequest(operation), seed, runs: good, examine });
      await holds({ arbitrary: anyRequest(operation), seed, runs: RUNS - good, examine });
      for (const plan of fc.sample(goodRequest(operation), { seed: seed + 1, numRuns: PATIENCE })) {
        if (succeeded) break;
        world = await renewWorld(subject.api, world);
        await examine(plan);
      }
      expect(succeeded, 'no request got through to the handler: known-good.ts lacks a value').toBe(
        true,
      );
    });
  }
});

/** Whether what it was about may have another state now, or none. Creations leave the rest as it is. */
function usesUp({ method, path }: Operation): boolean {
  if (method === 'GET') return false;
  return method !== 'POST' || /\{(?!project_id|organization_id)\w+\}/.test(path);
}
