import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { isLibvirtError, LIBVIRT_ERROR } from './errors.ts';
import { SECRET_USAGE } from './flags.ts';
import {
  connectGetHostname,
  connectListAllNetworks,
  connectListAllSecrets,
  connectListAllStoragePools,
  secretDefineXml,
  secretGetValue,
  secretLookupByUsage,
  secretLookupByUuid,
  secretSetValue,
  secretUndefine,
  storagePoolCreateXml,
  storagePoolDestroy,
  storagePoolListAllVolumes,
  storageVolCreateXml,
  storageVolDelete,
  storageVolGetInfo,
  storageVolResize,
} from './generated/procedures.ts';
import type { StoragePool, StorageVol } from './generated/types.ts';
import { type PrivateLibvirtd, startPrivateLibvirtd } from './testing/private-libvirtd.ts';
import { downloadVolume, uploadVolume } from './volume-transfer.ts';

const MIB = 1024 * 1024;
let daemon: PrivateLibvirtd;
let connection: Connection;
let pool: StoragePool;
let folder: string;

beforeAll(async () => {
  daemon = await startPrivateLibvirtd();
  connection = await connect({ socketPath: daemon.socketPath });
  folder = join(daemon.directory, 'pool');
  await mkdir(folder);
  const xml = `<pool type='dir'><name>images</name><target><path>${folder}</path></target></pool>`;
  ({ pool } = await connection.call(storagePoolCreateXml, { xml, flags: 0 }));
});
afterAll(async () => {
  await connection?.close();
  await daemon?.stop();
});

async function createVolume(name: string, sizeBytes: number): Promise<StorageVol> {
  const xml = `<volume><name>${name}</name><capacity>${sizeBytes}</capacity>
    <target><format type='raw'/></target></volume>`;
  return (await connection.call(storageVolCreateXml, { pool, xml, flags: 0 })).vol;
}

it('pools and networks are listed', async () => {
  const all = { needResults: 1, flags: 0 };
  const { pools } = await connection.call(connectListAllStoragePools, all);
  expect(pools).toEqual([pool]);
  expect((await connection.call(connectListAllNetworks, all)).nets).toEqual([]);
});

it('a downloaded volume is identical to the uploaded one', async () => {
  const content = randomBytes(5 * MIB + 77);
  const vol = await createVolume('disk', content.length);
  // In pieces that do not match the protocol's packets or each other.
  const parts = Array.from({ length: Math.ceil(content.length / 300_001) }, (_, index) =>
    content.subarray(index * 300_001, (index + 1) * 300_001),
  );
  await pipeline(Readable.from(parts), await uploadVolume(connection, vol));
  expect((await readFile(join(folder, 'disk'))).equals(content)).toBe(true);
  const whole = await buffer(await downloadVolume(connection, vol));
  expect(whole.equals(content)).toBe(true);
  const range = { offset: 1_000n, length: 70_000n };
  const part = await buffer(await downloadVolume(connection, vol, range));
  expect(part.equals(content.subarray(1_000, 71_000))).toBe(true);
  await connection.call(storageVolDelete, { vol, flags: 0 });
  const args = { pool, needResults: 1, flags: 0 };
  expect((await connection.call(storagePoolListAllVolumes, args)).vols).toEqual([]);
});

it('an upload past the end of its range fails, and the connection stays usable', async () => {
  const vol = await createVolume('small', MIB);
  const upload = await uploadVolume(connection, vol, { length: 1_000n });
  const attempt = pipeline(Readable.from([Buffer.alloc(MIB)]), upload);
  await expect(attempt).rejects.toMatchObject({ name: 'LibvirtError' });
  expect((await connection.call(connectGetHostname)).hostname).not.toBe('');
  await connection.call(storageVolDelete, { vol, flags: 0 });
});

it('aborted transfers release the volume', async () => {
  const vol = await createVolume('aborted', 64 * MIB);
  const upload = await uploadVolume(connection, vol);
  upload.write(Buffer.alloc(MIB));
  // It has its own connection, because it is not read and blocks until it is destroyed.
  const own = await connect({ socketPath: daemon.socketPath });
  const download = await downloadVolume(own, vol);
  await expect.poll(() => download.readableLength).toBeGreaterThan(MIB / 2);
  for (const stream of [upload, download]) {
    stream.destroy();
    await once(stream, 'close');
  }
  expect((await own.call(connectGetHostname)).hostname).not.toBe('');
  await own.close();
  await connection.call(storageVolResize, { vol, capacity: BigInt(128 * MIB), flags: 0 });
  const { capacity } = await connection.call(storageVolGetInfo, { vol });
  expect(capacity).toBe(BigInt(128 * MIB));
  await connection.call(storageVolDelete, { vol, flags: 0 });
});

it('a secret keeps its value, and is gone after it was undefined', async () => {
  const uuid = randomUUID();
  const xml = `<secret ephemeral='yes' private='no'><uuid>${uuid}</uuid>
    <usage type='volume'><volume>/gantry/${uuid}</volume></usage></secret>`;
  const { secret } = await connection.call(secretDefineXml, { xml, flags: 0 });
  expect(secret.usageType).toBe(SECRET_USAGE.volume);
  const value = randomBytes(64);
  await connection.call(secretSetValue, { secret, value, flags: 0 });
  const kept = await connection.call(secretGetValue, { secret, flags: 0 });
  expect(kept.value.equals(value)).toBe(true);
  await connection.call(secretUndefine, { secret });
  const all = { needResults: 1, flags: 0 };
  expect((await connection.call(connectListAllSecrets, all)).secrets).toEqual([]);
  const lookup = connection.call(secretLookupByUuid, { uuid: secret.uuid });
  const error = await lookup.catch((caught: unknown) => caught);
  expect(isLibvirtError(error, LIBVIRT_ERROR.noSecret)).toBe(true);
});

it('a private secret is found by its usage, and its value cannot be read back', async () => {
  const uuid = randomUUID();
  const xml = `<secret ephemeral='yes' private='yes'><uuid>${uuid}</uuid>
    <usage type='ceph'><name>client.${uuid}</name></usage></secret>`;
  const { secret } = await connection.call(secretDefineXml, { xml, flags: 0 });
  await connection.call(secretSetValue, { secret, value: randomBytes(28), flags: 0 });
  const usage = { usageType: SECRET_USAGE.ceph, usageId: `client.${uuid}` };
  const found = await connection.call(secretLookupByUsage, usage);
  expect(found.secret.uuid.equals(secret.uuid)).toBe(true);
  await expect(connection.call(secretGetValue, { secret, flags: 0 })).rejects.toThrow('private');
  await connection.call(secretUndefine, { secret });
});

it('a pool that is stopped keeps its files', async () => {
  await createVolume('kept', MIB);
  await connection.call(storagePoolDestroy, { pool });
  expect((await readFile(join(folder, 'kept'))).length).toBe(MIB);
});
