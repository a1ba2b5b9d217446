import { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import type { Client } from '@gantry/testkit/processes/client';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** One of ten hosts accepts specs and fails at every VM. New VMs would be packed onto it. */
let cloud: FaultyCloud;
let client: Client;
let healthyMs: number[];
/**
 * So many that the 99th percentile is not the slowest: the host takes no more VMs after it has failed at
 * two, and those that it got meanwhile need the time of its attempts.
 */
const CREATIONS = 300;
const LIMIT_MS = 600_000;
/** At a time, so that none waits for another. */
const CLIENTS = 3;
/** For a busy machine. */
const ALLOWANCE_MS = 1_000;

beforeAll(async () => {
  cloud = await FaultyCloud.start({
    ...{ apis: 2, schedulers: 2, fleets: ['eu-north-a:a40-8=10'] },
    fleetEnv: { GANTRY_FLEET_BOOT_MS: '100', GANTRY_FLEET_SHUTDOWN_MS: '20' },
  });
  client = await cloud.connect();
  healthyMs = await createMany('healthy');
}, LIMIT_MS);
afterAll(() => cloud?.stop());

/** Creates VMs and deletes each. Returns how long each creation took. */
async function createMany(name: string): Promise<number[]> {
  const tookMs: number[] = [];
  let next = 0;
  const work = async () => {
    while (next < CREATIONS) {
      next += 1;
      const beganMs = performance.now();
      const ended = await client.ended(await client.createVm({ name: `${name}-${next}` }));
      expect(ended).toMatchObject({ state: 'SUCCEEDED' });
      tookMs.push(performance.now() - beganMs);
      await client.open('DELETE', `/vms/${ended.metadata.id}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  return tookMs.sort((a, b) => a - b);
}

/** The host on which the next VM will be placed: VMs are packed. */
async function favourite(): Promise<string> {
  const ended = await client.ended(await client.createVm({ name: 'probe' }));
  const name = await cloud.fleets[0]?.process.hostOf(ended.metadata.id);
  await client.ended(await client.open('DELETE', `/vms/${ended.metadata.id}`));
  return name ?? '';
}

const p99 = (tookMs: number[]) => tookMs[Math.ceil(0.99 * tookMs.length) - 1] ?? 0;

it('a host among ten that fails at every VM does not slow down creations, which succeed elsewhere', {
  timeout: LIMIT_MS,
}, async () => {
  const [fleet] = cloud.fleets;
  const sickHost = await favourite();
  await fleet?.process.order(sickHost, 'fail', { step: 'start', times: 1_000 });
  const sickMs = await createMany('sick');
  const figures = `healthy ${p99(healthyMs)} ms, sick ${p99(sickMs)} ms, slowest ${sickMs.at(-1)} ms`;
  expect(p99(sickMs), figures).toBeLessThan(2 * p99(healthyMs) + ALLOWANCE_MS);
});
