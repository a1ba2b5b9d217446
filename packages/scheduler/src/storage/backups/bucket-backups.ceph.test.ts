import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { createSettingsReader } from '@gantry/daemon/settings';
import { MIB } from '@gantry/daemon/units';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { startGateway, type TestGateway } from '@gantry/testkit/ceph/start-gateway';
import { documented } from '@gantry/testkit/docs/documented';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupFiles } from '../backup-files/backup-files.ts';
import type { Bucket } from '../backup-files/bucket/bucket.ts';
import { openBucketFiles } from '../backup-files/bucket/bucket-files.ts';
import { type BucketSettings, readBucketSettings } from '../backup-files/bucket/bucket-settings.ts';
import { payloadOfText } from '../backup-files/bucket/payload.ts';
import {
  attempt,
  backUp,
  describeBackupFiles,
  held,
  manifestOf,
  newKey,
  readBack,
  sha256Of,
} from '../backup-files/testing/backup-files-contract.ts';
import { makeGatewayBucket, openGatewayBucket } from '../backup-files/testing/gateway-bucket.ts';
import { LeaseLost } from '../lease-writes.ts';
import { realVolumes } from '../testing/real-volumes.ts';
import { makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let ceph: TestCeph;
let gateway: TestGateway;
let cluster: StorageCluster;
let world: StorageWorld;
let directory: string;
let spool: string;
let settings: BucketSettings;
let bucket: Bucket;
const stopping = new AbortController().signal;
/** The least that S3 allows, so that small files have several. */
const partBytes = 5 * MIB;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-bucket-'));
  spool = await mkdtemp(path.join(directory, 'spool-'));
  ceph = await startCeph();
  gateway = await startGateway(ceph);
  settings = await makeGatewayBucket(gateway, 'backups');
  bucket = openGatewayBucket(settings);
  cluster = connectCeph(ceph);
  const backupBucket = { settings, stopping, partBytes };
  world = await makeStorageWorld({ real: cluster, backupDirectory: spool, backupBucket });
});
afterAll(async () => {
  await world?.api.stop();
  await cluster?.close();
  await gateway?.stop();
  await ceph?.stop();
  await rm(directory, { recursive: true, force: true });
});

const open = (changed: Partial<BucketSettings> = {}): BackupFiles =>
  openBucketFiles({
    ...{ settings: { ...settings, ...changed }, spool, stopping, partBytes },
    patience: { pauseMs: 1 },
  });
const folderOf = (diskId: string) => `${settings.prefix}${diskId}/`;
const stored = async (diskId: string) =>
  (await bucket.list(folderOf(diskId))).map((each) => each.slice(folderOf(diskId).length)).sort();
const uploads = (diskId: string) => bucket.listUploads(folderOf(diskId));

describeBackupFiles(() => ({
  open,
  stored,
  readStored: async (diskId, name) => Buffer.from(await bucket.readText(folderOf(diskId) + name)),
  spooled: () => readdir(spool),
}));

describe('a bucket', () => {
  it('stores a large file in parts, and returns it as it was', async () => {
    const key = newKey();
    const content = randomBytes(2 * partBytes + 4_321);
    await backUp(open(), key, content);
    const [found] = await readBack(open(), [key, content]);
    expect(found?.equals(content)).toBe(true);
    expect(await uploads(key.disk_id)).toEqual([]);
  });

  it.each(['next attempt', 'deletion'])(
    'has no part of an interrupted upload after the %s',
    async (when) => {
      const key = newKey();
      const name = `${folderOf(key.disk_id)}${key.id}.killed.diff`;
      const id = await bucket.startUpload(name);
      await bucket.putPart(
        { name, id },
        { number: 1, payload: payloadOfText('a'.repeat(partBytes)) },
      );
      expect(await uploads(key.disk_id)).toEqual([{ name, id }]);
      if (when === 'deletion') await open().remove(key);
      else await open().prepare(key, held);
      expect(await uploads(key.disk_id)).toEqual([]);
    },
  );

  it('keeps the attempt of its successor if a late scheduler has listed it and then lost the lease', async () => {
    const key = newKey();
    const content = randomBytes(10);
    const files = open();
    const file = await attempt(files, key, content);
    const late = open().prepare(key, async () => {
      throw new LeaseLost('lost');
    });
    await expect(late).rejects.toBeInstanceOf(LeaseLost);
    await files.publish(key, file);
    expect(await readBack(open(), [key, content])).toEqual([content]);
  });

  it('keeps an attempt that begins while an earlier one checks its lease', async () => {
    const key = newKey();
    const content = randomBytes(10);
    await open().prepare(key, () => backUp(open(), key, content));
    expect(await readBack(open(), [key, content])).toEqual([content]);
  });

  it('returns the attempt that the database knows if a killed scheduler left another complete one', async () => {
    const key = newKey();
    const [known, other] = [randomBytes(10), randomBytes(10)];
    const late = open();
    const lateFile = await late.prepare(key, held);
    await backUp(open(), key, known);
    await writeFile(lateFile, other);
    await late.verify(lateFile, manifestOf(key, other));
    expect(await stored(key.disk_id)).toHaveLength(4);
    expect(await readBack(open(), [key, known])).toEqual([known]);
  });

  it('refuses a restore from an object that was changed, and names it', async () => {
    const key = newKey();
    const content = randomBytes(10);
    await backUp(open(), key, content);
    const name = (await stored(key.disk_id)).find((each) => each.endsWith('.diff')) ?? '';
    await bucket.put(folderOf(key.disk_id) + name, payloadOfText('0123456789'));
    await expect(readBack(open(), [key, content])).rejects.toMatchObject({
      ...{ code: 'failed', message: expect.stringContaining(`${name} is damaged`) },
    });
    expect(await readdir(spool)).toEqual([]);
  });

  it('restores files that were copied from a directory of backups', async () => {
    const key = newKey();
    const name = `${folderOf(key.disk_id)}${key.id}`;
    const content = Buffer.from('from a directory');
    await bucket.put(`${name}.diff`, payloadOfText(String(content)));
    await bucket.put(`${name}.json`, payloadOfText(JSON.stringify(manifestOf(key, content))));
    expect(await readBack(open(), [key, content])).toEqual([content]);
    await open().remove(key);
    expect(await stored(key.disk_id)).toEqual([]);
  });
});

const { qemuIo, checksum, finish, restoreBackup } = realVolumes(() => ({ ceph, world }));

describe('backups of disks in a bucket', () => {
  it('a whole backup and one with changes are restored with the same SHA-256, also by hand, and deleted', async () => {
    const diskId = await world.makeDisk('', { size: '1GiB' });
    await qemuIo(diskId, 'write -P 99 64M 16M');
    const full = await finish('POST', '/backups', { name: 'full', disk_id: diskId });
    const afterFull = await checksum(diskId);
    await qemuIo(diskId, 'write -P 5 100M 4k', 'discard 64M 8M');
    const changes = await finish('POST', '/backups', { name: 'changes', disk_id: diskId });
    const afterChanges = await checksum(diskId);
    expect((await world.call('GET', `/backups/${changes}`)).body.parent_id).toBe(full);
    expect(await readdir(spool)).toEqual([]);
    await cluster.removeVolume({ pool: POOL, name: diskId });

    expect(await checksum(await restoreBackup('first', full))).toBe(afterFull);
    expect(await checksum(await restoreBackup('second', changes))).toBe(afterChanges);
    expect(await readdir(spool)).toEqual([]);

    const diffs = (await stored(diskId)).filter((each) => each.endsWith('.diff'));
    const nameOf = (id: string) => diffs.find((each) => each.startsWith(id))?.replace('.diff', '');
    const byHand = documented('backup-of-disks.md', 'BUCKET=', {
      'https://s3.example.com/backups/gantry': `${gateway.endpoint}/backups/eu/gantry`,
      '"$FIRST"': `"${nameOf(full)}"`,
      '"$NEXT"': `"${nameOf(changes)}"`,
      'volumes/rescued': `${POOL}/rescued`,
      '100G': '1G',
    });
    const work = await mkdtemp(path.join(directory, 'by-hand-'));
    const { keyId, secret } = gateway;
    const variables = `cd ${work}; KEY_ID=${keyId} SECRET=${secret} DISK_ID=${diskId}`;
    const said = await ceph.run('bash', '-euc', `${variables}\n${byHand}`);
    const { body } = await world.call('GET', `/backups/${changes}`);
    expect(said).toContain(body.sha256);
    expect(await checksum('rescued')).toBe(afterChanges);

    await finish('DELETE', `/backups/${changes}`);
    expect(await stored(diskId)).toHaveLength(2);
    await finish('DELETE', `/backups/${full}`);
    expect(await stored(diskId)).toEqual([]);
    expect(await uploads(diskId)).toEqual([]);
  });

  it('an interrupted attempt leaves nothing after the next, and a deleted one nothing at all', async () => {
    const diskId = await world.makeDisk('', { size: '1GiB' });
    await qemuIo(diskId, 'write -P 7 0 12M');
    const { id, resourceId } = await world.begin('POST', '/backups', {
      ...{ name: 'x', disk_id: diskId },
    });
    const files = open();
    const killed: BackupFiles = {
      ...files,
      async verify(file, manifest) {
        await files.verify(file, manifest);
        throw new Error('killed');
      },
      discard: async () => {},
    };
    await expect(world.carryOut({ backupFiles: killed })).rejects.toThrow('killed');
    expect(await stored(diskId)).toHaveLength(2);
    await world.carryOut();
    expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await stored(diskId)).toHaveLength(2);
    expect(await checksum(await restoreBackup('again', resourceId))).toBe(await checksum(diskId));
    await finish('DELETE', `/backups/${resourceId}`);
    expect(await stored(diskId)).toEqual([]);
  });

  it.each([
    ['the wrong secret', { secret: 'wrong' }, /^the bucket of backups refused it/, 403],
    ['no bucket', { bucket: 'absent' }, /^the bucket of backups does not exist/, 404],
    ['no server', { endpoint: 'http://127.0.0.1:1' }, /^the bucket of backups does not/, undefined],
  ])(
    'with %s a backup fails, and its tenant sees no address',
    async (_, changed, message, status) => {
      const diskId = await world.makeDisk('', { size: '1GiB' });
      const { id, resourceId } = await world.begin('POST', '/backups', {
        ...{ name: `x-${message.source.length}-${status}`, disk_id: diskId },
      });
      await world.carryOut({ backupFiles: open(changed) });
      const { result } = await world.operation(id);
      expect(result).toMatchObject({
        ...{ code: 'storage_failed', message: expect.stringMatching(message) },
      });
      expect(result.message).not.toMatch(/127\.0\.0\.1|absent|wrong|http/);
      expect((await world.call('GET', `/backups/${resourceId}`)).body).toMatchObject({
        ...{ state: 'failed', problem: result.message },
      });
      const error = await open(changed)
        .prepare(newKey(), held)
        .catch((each: Error) => each);
      expect((error as Error).cause).toMatchObject({
        ...{ name: 'BucketError', status, message: expect.stringContaining('http://127.0.0.1') },
      });
    },
  );

  it('the commands of the page set it up, with the secret as a credential', async () => {
    const at = async (name: string) => mkdtemp(path.join(directory, `${name}-`));
    const [credentials, units, files] = [
      await at('credentials'),
      await at('units'),
      await at('var'),
    ];
    const script = documented('backup-of-disks.md', 'install -d -m 700 -o gantry /var/lib', {
      ...{ '/etc/gantry/credentials': credentials, '/etc/systemd/system': units },
      ...{ '/var/lib/gantry': files, ' -o gantry': '' },
      'https://s3.example.com/backups/gantry': `${gateway.endpoint}/backups/eu/gantry`,
      ...{ 'the-key-id': gateway.keyId, 'the-secret': gateway.secret },
    });
    await ceph.run('bash', '-euc', `systemctl() { :; }\n${script}`);
    const unit = await readFile(
      path.join(units, 'gantry-scheduler.service.d/backup-bucket.conf'),
      'utf8',
    );
    const environment = Object.fromEntries(
      [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    expect(unit).toContain(
      `LoadCredential=GANTRY_BACKUP_BUCKET_SECRET:${credentials}/GANTRY_BACKUP_BUCKET_SECRET`,
    );
    expect(JSON.stringify(environment)).not.toContain(gateway.secret);
    const reader = createSettingsReader({ ...environment, CREDENTIALS_DIRECTORY: credentials });
    const own = reader.optional('GANTRY_BACKUP_DIRECTORY') ?? '';
    const read = readBucketSettings(reader, own);
    expect(read).toEqual(settings);
    const set = openBucketFiles({ settings: read ?? settings, spool: own, stopping });
    const [key, content] = [newKey(), randomBytes(10)];
    await backUp(set, key, content);
    expect(await readBack(set, [key, content])).toEqual([content]);
    const [name = ''] = await stored(key.disk_id);
    const found = await buffer(bucket.read(folderOf(key.disk_id) + name, content.length));
    expect(sha256Of(found)).toBe(sha256Of(content));
  });
});
