import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './pool-cloud.ts';

let cloud: PoolCloud;
let backupDirectory: string;
beforeAll(async () => {
  backupDirectory = await mkdtemp(path.join(tmpdir(), 'gantry-backups-'));
  cloud = await startPoolCloud();
  cloud.startVolumes({ backupDirectory });
});
afterAll(async () => {
  await cloud?.stop();
  await rm(backupDirectory, { recursive: true, force: true });
});

const at = (name: string) => ({ pool: 'volumes', name });
const write = (diskId: string, content: string) => {
  const client = cloud.cluster.open({ ...at(diskId), address: '10.0.0.9:0/1' });
  client.write(content);
  client.close();
};

it('a volume controller makes the backups of a schedule, keeps the newest, and restores one after the disk was deleted', async () => {
  const { id: diskId } = await cloud.requestDisk();
  await cloud.settleVolumes();
  write(diskId, 'first');
  await cloud.call('PUT', `/disks/${diskId}/backup-schedule`, { every_hours: 1, keep: 1 });
  const ready = async () =>
    (
      await cloud.sql<{ id: string }[]>`
        select id from backups where disk_id = ${diskId} and state = 'ready' order by id`
    ).map(({ id }) => id);
  await expect.poll(ready).toHaveLength(1);
  write(diskId, 'second');
  await cloud.sql`update backup_schedules set next_at = now() where disk_id = ${diskId}`;
  await expect.poll(ready).toHaveLength(2);
  const [first = '', second = ''] = await ready();
  // The snapshot of the first one is not needed any more; its file is, because the second one has the changes since it.
  await expect
    .poll(async () => (await cloud.cluster.readVolume(at(diskId)))?.snapshots)
    .toEqual([second]);
  expect(await readdir(path.join(backupDirectory, diskId))).toContain(`${first}.diff`);

  await cloud.request('DELETE', `/disks/${diskId}`);
  await cloud.settleWithoutHost();
  await expect.poll(async () => await cloud.cluster.readVolume(at(diskId))).toBeNull();
  const { id: restored } = await cloud.request('POST', '/disks', {
    ...{ name: 'restored', size: '100GiB', location: 'eu-north-a', backup_id: second },
  });
  await cloud.settleVolumes();
  expect(cloud.cluster.readContent(at(restored))).toBe('second');
});
