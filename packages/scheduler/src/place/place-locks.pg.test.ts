import type { Sql, Transaction } from '@gantry/db/connect';
import { lockHost } from '@gantry/db/queries/hosts/admin-hosts';
import { lockHostToFence, updateHostUnreachable } from '@gantry/db/queries/hosts/host-liveness';
import { lockHostForInventory } from '@gantry/db/queries/hosts/inventories';
import { commitPlacements } from '@gantry/db/queries/placement/placements';
import { countWaiting, otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Tests which changes of a host wait for a placement on it and which do not. */

const STREAM_EPOCH = '7';
let database: TestDatabase;
let elsewhere: Sql;
let hostId: string;
let gpuId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  elsewhere = otherProcess(database.url);
  const [host] = await addHosts(database.sql, 1);
  hostId = host?.id ?? '';
  gpuId = host?.gpuIds[0] ?? '';
  await database.sql`update hosts set stream_epoch = ${STREAM_EPOCH}`;
});
afterAll(async () => {
  await elsewhere.end({ timeout: 5 });
  await database.drop();
});

/** A placement that holds the lock of its host and waits for its network until the body ends. */
async function whilePlacing(body: () => Promise<void>): Promise<void> {
  const { sql } = database;
  const [vmId = ''] = await addVms(sql, 1, { projectId: await addProject(sql) });
  const lease = await holdLocation(sql);
  const placement = {
    vmId,
    hostId,
    generation: '1',
    deviceIds: [gpuId],
    numaShares: [],
    addresses: [],
    publicFor: [],
  };
  let committing: ReturnType<typeof commitPlacements> | undefined;
  await elsewhere.begin(async (tx) => {
    await tx`select from networks where id in
      (select network_id from network_interfaces where vm_id = ${vmId}) for update`;
    committing = commitPlacements(sql, { lease, placements: [placement] });
    await expect.poll(() => countWaiting(tx)).toBe(1);
    await body();
  });
  expect(await committing).toMatchObject({ outcome: 'committed', dropped: [] });
  await sql`delete from device_claims`;
  await sql`delete from placements`;
}

const changes: [string, (tx: Transaction) => Promise<unknown>][] = [
  ['an operator who changes it', (tx) => lockHost(tx, hostId)],
  [
    'news of what it is made of and where it is reached',
    (tx) =>
      lockHostForInventory(tx, {
        hostId,
        streamEpoch: STREAM_EPOCH,
        inventoryJson: '{}',
        judgedBy: 'rules',
      }),
  ],
  ['giving it up as silent', (tx) => updateHostUnreachable(tx, { hostId, silentMs: 0 })],
  [
    'fencing it',
    async (tx) => {
      await tx`update hosts set fenced_at = now() where id = ${hostId}`;
      await lockHostToFence(tx, hostId);
    },
  ],
];

it.each(changes)('%s waits for an in-flight placement on the host', async (_, change) => {
  await whilePlacing(async () => {
    const changing = database.sql.begin(async (tx) => {
      await tx`set local lock_timeout = '100ms'`;
      await change(tx);
    });
    await expect(changing).rejects.toMatchObject({ code: '55P03' });
  });
});

const unasked = changes.filter(([who]) => !who.startsWith('an operator'));

// A change of a firewall rule locks the numbers of hosts and then refers to the hosts. These lock
// in the opposite order.
it.each(unasked)(
  '%s does not block a transaction that only refers to the host',
  async (_, change) => {
    const undone = new Error('undone');
    const changing = database.sql.begin(async (tx) => {
      await change(tx);
      const found = await elsewhere`select from hosts where id = ${hostId} for key share nowait`;
      expect(found).toHaveLength(1);
      throw undone;
    });
    await expect(changing).rejects.toBe(undone);
  },
);
