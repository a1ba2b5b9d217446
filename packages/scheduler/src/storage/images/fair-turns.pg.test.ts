import { listUnsettledBackups } from '@gantry/db/queries/backups/backup-work';
import { listUnsettledImages } from '@gantry/db/queries/storage/image-work';
import { newId } from '@gantry/model/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCATION, makeStorageWorld, type StorageWorld } from '../testing/storage-world.ts';

let world: StorageWorld;
beforeAll(async () => {
  world = await makeStorageWorld();
});
afterAll(() => world?.api.stop());

const selection = { location: LOCATION, limit: 2, notIds: [] as string[], notClusters: [] };
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
/** Two organizations: the first one has many requests, all of which are older than that of the other one. */
const projects = () => [
  ...Array.from({ length: 5 }, () => world.tenant.projectId),
  world.stranger.projectId,
];

it('an organization with many images to import delays no other, and has two imports at a time', async () => {
  const { sql } = world.api;
  const ids: string[] = [];
  for (const projectId of projects()) {
    const id = newId();
    ids.push(id);
    await sql`insert into custom_images (id, project_id, pool_id, location, size_gib, source_url)
      values (${id}, ${projectId}, ${world.poolId}, ${LOCATION}, 1, 'https://example.com/image')`;
  }
  const [first, second, , , , foreign] = ids as [string, string, string, string, string, string];
  expect(idsOf(await listUnsettledImages(sql, selection))).toEqual([first, foreign]);
  const busy = { ...selection, notIds: [second] };
  expect(idsOf(await listUnsettledImages(sql, busy))).toEqual([foreign, first]);
  const full = { ...selection, notIds: [first, second] };
  expect(idsOf(await listUnsettledImages(sql, full))).toEqual([foreign]);
  // Deletions do not wait for imports.
  await sql`update custom_images set desired_state = 'deleted' where id <> all(${[first, second]}::uuid[])`;
  const deleted = await listUnsettledImages(sql, { ...full, limit: 10 });
  expect(idsOf(deleted).sort()).toEqual(ids.slice(2).sort());
});

it('an organization with many backups to make delays no other', async () => {
  const { sql } = world.api;
  const ids: string[] = [];
  for (const projectId of projects()) {
    const id = newId();
    ids.push(id);
    await sql`insert into backups (id, project_id, name, disk_id, pool_id, location, disk_type, size_gib, block_size)
      values (${id}, ${projectId}, ${id}, ${newId()}, ${world.poolId}, ${LOCATION}, 'persistent-ssd', 1, 512)`;
  }
  const [first, second, third, , , foreign] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  expect(idsOf(await listUnsettledBackups(sql, selection))).toEqual([first, foreign]);
  const busy = { ...selection, notIds: [first, second] };
  expect(idsOf(await listUnsettledBackups(sql, busy))).toEqual([foreign, third]);
});
