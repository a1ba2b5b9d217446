import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createLog } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { cleanUp, DEFAULT_RETENTION } from '@gantry/scheduler/clean-up';
import { DiskStore } from '@gantry/simulator/driver/disk-store';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { inventoryOfHost, simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { row } from './fleet/table.ts';
import { type NetFleet, startNetFleet, until } from './net/fleet.ts';
import { runParts } from './run-parts.ts';
import { VM } from './subject.ts';

/**
 * Creates and deletes VMs through the api, a scheduler and an agent of a simulated host, and measures how
 * many bytes the database keeps for each of them: at once, and when the clean-up runs 31 days later.
 * Every VM has scripts of the largest size that do not compress, because that is what a creation can leave
 * behind at most.
 */
const { values } = parseArgs({
  options: {
    creations: { type: 'string', default: '1000' },
    /** How many VMs there are at the same time; the host has eight GPUs. */
    atOnce: { type: 'string', default: '4' },
    /** GPUs of each VM, and as many drives. */
    gpus: { type: 'string', default: '1' },
  },
});
const GOAL_BYTES = 6_000;
const LATER_DAYS = 31;
const MODEL = 'a40-8';
const WARM_UP = 100;
/** With the first line exactly 64 KiB. */
const SCRIPT_BYTES = 65_536;

type Reply = { operation: { operation_id: string; metadata: { id: string } } };

await runParts({ retention: measureRetention }, []);

async function measureRetention(signal: AbortSignal): Promise<void> {
  const model = SERVER_MODELS.find(({ name }) => name === MODEL);
  if (!model) throw new Error(`there is no server model ${MODEL}`);
  const inventory = { ...(await simulatedInventory(model)), sharedStorage: true };
  const fleet = await startNetFleet(
    new SimulatedHostDriver({
      inventory: inventoryOfHost(inventory, 'bench'),
      disks: new DiskStore(),
    }),
  );
  try {
    const { sql } = fleet;
    const each = Number(values.gpus);
    await sql`update vm_types set gpu_count = ${each}, disk_count = ${each}, disk_gb = 960 where name = ${VM.type}`;
    const creations = Number(values.creations);
    await until(signal, 'the host has not reported its devices', async () => {
      const devices = await sql`select from devices limit 1`;
      return devices.length > 0;
    });
    // Afterwards tables have the free space that a running installation has, and it is used again.
    await createAndDelete(fleet, { count: WARM_UP, signal });
    await moveOn(sql);
    const before = await readSizes(sql);
    await createAndDelete(fleet, { count: creations, signal });
    print('at once', { before, after: await readSizes(sql), creations });
    await moveOn(sql);
    const after = await readSizes(sql);
    print(`${LATER_DAYS} days later`, { before, after, creations, goal: GOAL_BYTES });
  } finally {
    await fleet.stop();
  }
}

type Work = { count: number; signal: AbortSignal };

async function createAndDelete({ ask, sql }: NetFleet, { count, signal }: Work): Promise<void> {
  let left = count;
  const isEnded = async (id: string) => {
    const [operation] = await sql<{ state: string; result: object }[]>`
      select state, result from operations where id = ${id}`;
    if (operation?.state === 'FAILED') throw new Error(JSON.stringify(operation.result));
    return operation?.state === 'SUCCEEDED';
  };
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const created = await ask<Reply>('POST', '/vms', {
        ...VM,
        name: `vm-${randomBytes(6).toString('hex')}`,
        startup_script: largeScript(),
        shutdown_script: largeScript(),
      });
      const { operation_id, metadata } = created.operation;
      await until(signal, 'a VM was not created', () => isEnded(operation_id));
      const deleted = await ask<Reply>('DELETE', `/vms/${metadata.id}`);
      await until(signal, 'a VM was not deleted', () => isEnded(deleted.operation.operation_id));
    }
  };
  await Promise.all(Array.from({ length: Number(values.atOnce) }, work));
}

function largeScript(): string {
  const line = '#!/bin/sh\n#';
  return (line + randomBytes(SCRIPT_BYTES).toString('base64')).slice(0, SCRIPT_BYTES);
}

/** Ids have their time, so instead of the clock the limits of the clean-up move. */
async function moveOn(sql: Sql): Promise<void> {
  await sql`update idempotency_keys set created_at = created_at - ${LATER_DAYS} * interval '1 day'`;
  const retention = { ...DEFAULT_RETENTION };
  for (const name of Object.keys(retention) as (keyof typeof retention)[])
    retention[name] -= LATER_DAYS;
  const log = createLog({ process: 'bench', level: 'silent' });
  await cleanUp({ sql, log, retention });
}

type Sizes = Map<string, number>;

/** Tables with their indexes and large values, when what was deleted can be used again. */
async function readSizes(sql: Sql): Promise<Sizes> {
  await sql`vacuum`;
  const tables = await sql<{ name: string; bytes: string }[]>`
    select relname as name, pg_total_relation_size(oid) as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`;
  return new Map(tables.map(({ name, bytes }) => [name, Number(bytes)]));
}

type Comparison = { before: Sizes; after: Sizes; creations: number; goal?: number };

function print(when: string, { before, after, creations, goal }: Comparison): void {
  const grown = [...after]
    .map(([name, bytes]) => ({ name, each: (bytes - (before.get(name) ?? 0)) / creations }))
    .sort((a, b) => b.each - a.each);
  const sum = grown.reduce((total, { each }) => total + each, 0);
  row(`kept per creation, ${when}`, sum, 'bytes', goal === undefined ? undefined : { most: goal });
  for (const { name, each } of grown) if (Math.abs(each) >= 20) row(`  ${name}`, each, 'bytes');
}
