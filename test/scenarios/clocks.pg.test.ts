import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());

it('a scheduler whose clock is wrong has no hosts and places nothing, and works again when it is right', async () => {
  let problem: string | null = null;
  const scheduler = await cloud.addScheduler({
    watch: {
      nowMs: () => Date.now(),
      clockProblem: () => problem,
      steadyMs: () => (problem === null ? Number.POSITIVE_INFINITY : 0),
    },
  });
  await cloud.addHost();
  await expect.poll(() => scheduler.attachedCount()).toBe(1);

  problem = 'the clock is wrong';
  await expect.poll(() => scheduler.attachedCount()).toBe(0);
  await expect.poll(() => scheduler.locations()).toEqual([]);
  const { id, operationId } = await cloud.createVm();
  await expect.poll(() => cloud.sql`select from leases where expires_at > now()`).toHaveLength(0);
  expect(await cloud.sql`select from placements where vm_id = ${id}`).toHaveLength(0);
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });

  problem = null;
  await expect.poll(() => cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
});
