import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCeph } from './ceph-cluster.ts';
import type { StorageCluster, Volume } from './storage-cluster.ts';
import { namespaceOf, type Share } from './storage-shares.ts';
import { mountShare } from './testing/share-client.ts';

/** What a host can do with the key of one volume, by the programs that come with Ceph. */
describe('a key of a volume', () => {
  const pool = 'volumes';
  const entity = 'gantry-host-1';
  let ceph: TestCeph;
  let cluster: StorageCluster;
  let file: string;
  let image: Volume;
  let own: Volume;
  let other: Volume;

  const create = (image: string) => {
    const name = randomUUID();
    const labels = { installation: 'here', resource: name };
    return cluster.createVolume({ pool, name, sizeBytes: 2 ** 23, labels, image });
  };
  const qemu = (volume: Volume, user: string, ...commands: string[]) => {
    const { configFile } = ceph;
    const options = `driver=rbd,pool=${pool},image=${volume.name},conf=${configFile},user=${user}`;
    return ceph.run(
      'qemu-io',
      '--image-opts',
      options,
      ...commands.flatMap((each) => ['-c', each]),
    );
  };

  beforeAll(async () => {
    ceph = await startCeph({ store: 'memstore' });
    cluster = connectCeph(ceph);
    file = path.join(ceph.directory, 'image.raw');
    await writeFile(file, Buffer.alloc(2 ** 20, 'i'));
    const labels = { installation: 'here', resource: 'image' };
    image = await cluster.importImage({ pool, name: 'image', labels, file, format: 'raw' });
    [own, other] = [await create('image'), await create('image')];
    await qemu(other, 'admin', 'write 0 4k', 'flush');
    const key = await cluster.createKey({ entity, pool, volume: own });
    const keyring = path.join(ceph.directory, `client.${entity}.keyring`);
    await writeFile(keyring, `[client.${entity}]\n\tkey = ${key}\n`);
  });
  afterAll(async () => {
    await cluster?.close();
    await ceph?.stop();
  });

  /** Each would succeed with the administrator's key, in this order. */
  const attempts = (): Record<string, string[]> => {
    const data = (volume: Volume) => `rbd_data.${volume.id}.0000000000000000`;
    const rados = ['rados', '-p', pool];
    return {
      'show another volume': ['rbd', 'info', `${pool}/${other.name}`],
      'read the data of another volume': [...rados, 'get', data(other), '/dev/null'],
      'write the data of another volume': [...rados, 'put', data(other), file],
      'list the names of volumes': ['rbd', 'ls', pool],
      'list the names of volumes in the index': [...rados, 'listomapkeys', 'rbd_directory'],
      'list the trash': ['rbd', 'trash', 'ls', pool],
      'list objects': [...rados, 'ls'],
      'open the parent by its name': ['rbd', 'info', `${pool}/${image.name}`],
      'write the data of the parent': [...rados, 'put', data(image), file],
      'label the parent': [...rados, 'setomapval', `rbd_header.${image.id}`, 'metadata_x', 'y'],
      'create a volume': ['rbd', 'create', '--size', '1M', `${pool}/new`],
      'rename its volume': ['rbd', 'mv', `${pool}/${own.name}`, `${pool}/renamed`],
      'put another volume into the trash': ['rbd', 'trash', 'mv', `${pool}/${other.name}`],
      'fence a client': ['ceph', 'osd', 'blocklist', 'add', '192.0.2.1:0/1'],
      'fence a network': ['ceph', 'osd', 'blocklist', 'range', 'add', '192.0.2.0/24'],
      'lift a fence': ['ceph', 'osd', 'blocklist', 'rm', '192.0.2.1:0/1'],
      'list keys': ['ceph', 'auth', 'ls'],
      'read the key of the administrator': ['ceph', 'auth', 'get', 'client.admin'],
      'create a key': ['ceph', 'auth', 'get-or-create', 'client.x', 'mon', 'allow *'],
      'extend its rights': ['ceph', 'auth', 'caps', `client.${entity}`, 'mon', 'allow r'],
      'read secrets of the cluster': ['ceph', 'config-key', 'ls'],
      'create a pool': ['ceph', 'osd', 'pool', 'create', 'x', '1'],
    };
  };
  const tryAs = async (user: string, [program = '', ...args]: string[]) => {
    const limits = ['--client_mount_timeout', '5', '--rados_osd_op_timeout', '5'];
    try {
      await ceph.run(
        program,
        '-n',
        `client.${user}`,
        ...(program === 'ceph' ? [] : limits),
        ...args,
      );
      return 'allowed';
    } catch (error) {
      return /not permitted|EACCES|EPERM|denied/.test(`${error}`) ? 'refused' : `${error}`;
    }
  };

  it('opens, reads, writes and grows its volume through QEMU, also if the parent is in the trash', async () => {
    await qemu(own, entity, 'read -P 0x69 512k 4k', 'write -P 0x61 0 4k', 'flush');
    await qemu(own, entity, 'read -P 0x61 0 4k', 'truncate 16M');
    expect(await cluster.readVolume(own)).toMatchObject({ sizeBytes: 2 ** 24 });
    const labels = { installation: 'here', resource: 'doomed' };
    const doomed = await cluster.importImage({ pool, name: 'doomed', labels, file, format: 'raw' });
    const clone = await create('doomed');
    const key = await cluster.createKey({ entity: 'clone', pool, volume: clone });
    await writeFile(
      path.join(ceph.directory, 'client.clone.keyring'),
      `[client.clone]\n\tkey = ${key}\n`,
    );
    await cluster.removeVolume(doomed);
    await qemu(clone, 'clone', 'read -P 0x69 512k 4k', 'write -P 0x61 0 4k', 'flush');
  });

  it('does not open another volume through QEMU', async () => {
    await expect(qemu(other, entity, 'read 0 4k')).rejects.toThrow('not permitted');
  });

  it('can do nothing else, and the administrator can do all of it', async () => {
    const results: Record<string, string> = {};
    for (const [name, command] of Object.entries(attempts()))
      results[name] = await tryAs(entity, command);
    const refused = Object.keys(results).map((name) => [name, 'refused']);
    expect(results).toEqual(Object.fromEntries(refused));

    const allowed: Record<string, string> = {};
    for (const [name, command] of Object.entries(attempts()))
      allowed[name] = await tryAs('admin', command);
    expect(allowed).toEqual(Object.fromEntries(refused.map(([name]) => [name, 'allowed'])));
  });
});

const PROGRAM = fileURLToPath(new URL('testing/share-attempts.py', import.meta.url));

/** What a host can do with the key of one share, by the programs and libraries that come with Ceph. */
describe('a key of a share', () => {
  const entity = 'gantry-host-1';
  const pool = 'shares';
  let ceph: TestCeph;
  let cluster: StorageCluster;
  let own: Share;
  let other: Share;
  let file: string;
  /** An object with content of the other share. */
  let object: string;

  const create = (name: string) => {
    const at = { fileSystem: 'shares', installation: 'here', name };
    return cluster.createShare({ ...at, pool, sizeBytes: 2 ** 23 });
  };

  beforeAll(async () => {
    ceph = await startCeph({ store: 'memstore', fileSystem: 'shares' });
    cluster = connectCeph(ceph);
    [own, other] = [await create('own'), await create('other')];
    const client = await mountShare(ceph, { share: other });
    await client.write('secret');
    await client.close();
    const listed = await ceph.run('rados', '-p', pool, '-N', namespaceOf(other), 'ls');
    object = listed.trim();
    file = path.join(ceph.directory, 'file');
    await writeFile(file, 'text');
    const key = await cluster.createShareKey({ entity, share: own });
    const keyring = path.join(ceph.directory, `client.${entity}.keyring`);
    await writeFile(keyring, `[client.${entity}]\n\tkey = ${key}\n`);
  });
  afterAll(async () => {
    await cluster?.close();
    await ceph?.stop();
  });

  type Attempt = { program: string; args: string[] };
  const inFiles = (...args: string[]): Attempt => ({ program: PROGRAM, args });
  const rados = (...args: string[]): Attempt => ({ program: 'rados', args });
  const admin = (...args: string[]): Attempt => ({ program: 'ceph', args });

  /** Each would succeed with the administrator's key, in this order. */
  const attempts = (): Record<string, Attempt> => {
    const elsewhere = ['-p', pool, '-N', namespaceOf(other)];
    return {
      'mount another share': inFiles('list', other.path),
      'write to another share': inFiles('write', other.path, 'new'),
      'mount the directory with all shares': inFiles('list', '/gantry/here'),
      'mount the whole file system': inFiles('list', '/'),
      'change its quota': inFiles('set', own.path, 'ceph.quota.max_bytes', '99999999'),
      'change its namespace': inFiles(
        ...['set', own.path, 'ceph.dir.layout.pool_namespace', namespaceOf(other)],
      ),
      'make a snapshot': inFiles('snapshot', own.path, 'new'),
      'list the objects of another share': rados(...elsewhere, 'ls'),
      'read an object of another share': rados(...elsewhere, 'get', object, '/dev/null'),
      'write an object of another share': rados(...elsewhere, 'put', 'new', file),
      'list the objects of all shares': rados('-p', pool, 'ls', '--all'),
      'list objects without a namespace': rados('-p', pool, 'ls'),
      'write an object without a namespace': rados('-p', pool, 'put', 'new', file),
      'list the metadata of the file system': rados('-p', 'shares-metadata', 'ls'),
      'write the metadata of the file system': rados('-p', 'shares-metadata', 'put', 'new', file),
      'list the objects of a pool of volumes': rados('-p', 'volumes', 'ls'),
      'list the clients of the file system': admin('tell', 'mds.shares:0', 'session', 'ls'),
      'end a client of the file system': admin(
        ...['tell', 'mds.shares:0', 'session', 'evict', 'id=999999'],
      ),
      'fence a client': admin('osd', 'blocklist', 'add', '192.0.2.1:0/1'),
      'extend its rights': admin('auth', 'caps', `client.${entity}`, 'mon', 'allow r'),
      'change the file system': admin('fs', 'set', 'shares', 'max_file_size', '1099511627776'),
    };
  };

  const tryAs = async (user: string, { program, args }: Attempt) => {
    const limits = ['--client_mount_timeout', '5', '--rados_osd_op_timeout', '5'];
    const command =
      program === PROGRAM
        ? ['/usr/bin/python3', '-B', PROGRAM, ceph.configFile, user, ...args]
        : [program, '-n', `client.${user}`, ...(program === 'rados' ? limits : []), ...args];
    const [first = '', ...rest] = command;
    try {
      await ceph.run(first, ...rest);
      return 'allowed';
    } catch (error) {
      return /not permitted|EACCES|EPERM|denied/i.test(`${error}`) ? 'refused' : `${error}`;
    }
  };

  it('reads and writes its share', async () => {
    expect(await tryAs(entity, inFiles('list', own.path))).toBe('allowed');
    expect(await tryAs(entity, inFiles('write', own.path, 'new'))).toBe('allowed');
  });

  it('can do nothing else, and the administrator can do all of it', async () => {
    const results: Record<string, string> = {};
    for (const [name, attempt] of Object.entries(attempts()))
      results[name] = await tryAs(entity, attempt);
    const refused = Object.keys(results).map((name) => [name, 'refused']);
    expect(results).toEqual(Object.fromEntries(refused));

    const allowed: Record<string, string> = {};
    for (const [name, attempt] of Object.entries(attempts()))
      allowed[name] = await tryAs('admin', attempt);
    expect(allowed).toEqual(Object.fromEntries(refused.map(([name]) => [name, 'allowed'])));
  });
});
