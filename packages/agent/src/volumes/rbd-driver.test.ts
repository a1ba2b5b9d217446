import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DiskSpec } from '../spec.ts';
import { makeDisk } from '../testing/make-spec.ts';
import { rbdDriver } from './rbd-driver.ts';
import { isOwnSecret, passphraseUuidOf, secretUuidOf } from './secret-uuid.ts';
import { kernelSourceAddress, monitorAddress, type StorageNetwork } from './storage-network.ts';
import { describeEveryDriverContract } from './testing/volumes-contract.ts';

const RBD: NonNullable<DiskSpec['rbd']> = {
  ...{ monitors: ['10.0.0.1:3300'], pool: 'vol', image: 'd', user: 'k1', key: 'QVFCc2VjcmV0' },
  passphrase: '',
};
let directory: string;
let network: StorageNetwork;
const disk = (spec: Partial<DiskSpec> = {}) => makeDisk('d', { rbd: RBD, ...spec });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-rbd-'));
  const confFile = join(directory, 'ceph/gantry.conf');
  network = { address: '10.0.0.5', confFile, sourceAddressTo: async () => '10.0.0.5' };
});
afterEach(() => rm(directory, { recursive: true }));

describe('the contract of every driver', () => {
  describeEveryDriverContract(async () => {
    const inUse = new Set<string>();
    return {
      volumes: rbdDriver({ network, isInUse: async (diskId) => inUse.has(diskId) }),
      ...{ kind: 'DISK_KIND_PERSISTENT_SSD', rbd: RBD, inUse },
      list: async () => [],
    };
  });
});

describe('a volume', () => {
  const volumes = () => rbdDriver({ network, isInUse: async () => false });

  it('is located without its key, and with time limits that every user can read', async () => {
    const source = await volumes().locate(disk());
    expect(source).toEqual({
      ...{ type: 'rbd', monitors: RBD.monitors, pool: 'vol', image: 'd', user: 'k1' },
      ...{ secretUuid: secretUuidOf('k1'), passphraseUuid: null },
      confFile: network.confFile,
    });
    expect(JSON.stringify(source)).not.toContain(RBD.key);
    const conf = await readFile(network.confFile, 'utf8');
    expect(conf).toMatch(/client_mount_timeout = 5\nrados_mon_op_timeout = 5\n/);
    expect((await stat(network.confFile)).mode & 0o777).toBe(0o644);
  });

  it('is located with the secret of its passphrase if it is encrypted, and without the passphrase', async () => {
    const passphrase = 'correct-horse';
    const source = await volumes().locate(disk({ rbd: { ...RBD, passphrase } }));
    expect(source).toMatchObject({ passphraseUuid: passphraseUuidOf('k1') });
    expect(JSON.stringify(source)).not.toContain(passphrase);
  });

  it('is not opened from an address that a fence of the host would not block', async () => {
    network.sourceAddressTo = async () => '10.9.9.9';
    await expect(volumes().locate(disk())).rejects.toMatchObject({
      code: 'storage_misrouted',
      message: expect.stringContaining('10.9.9.9'),
    });
    network.sourceAddressTo = () => Promise.reject(new Error('ENETUNREACH'));
    await expect(volumes().locate(disk())).rejects.toMatchObject({ code: 'storage_misrouted' });
  });

  it('is not opened by a host without an address in a storage network', async () => {
    const without = rbdDriver({ network: null, isInUse: async () => false });
    await expect(without.locate(disk())).rejects.toMatchObject({ code: 'storage_misrouted' });
  });

  it('is neither filled nor grown by a host that does not have it open', async () => {
    const image = { name: 'debian', url: 'file:///x', sha256: 'x', id: '' };
    await expect(volumes().create(disk(), image)).rejects.toMatchObject({ code: 'bad_disk' });
    await expect(volumes().grow(disk())).rejects.toMatchObject({ code: 'disk_missing' });
  });
});

it('the UUID of a secret depends only on the name of the key, and shows that it is ours', () => {
  const uuid = secretUuidOf('k1');
  expect(uuid).toBe(secretUuidOf('k1'));
  expect(uuid).not.toBe(secretUuidOf('k2'));
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(isOwnSecret({ uuid, usage: 'client.k1' })).toBe(true);
  expect(isOwnSecret({ uuid, usage: 'client.k2' })).toBe(false);
  const passphrase = { uuid: passphraseUuidOf('k1'), usage: 'passphrase.k1' };
  expect(passphrase.uuid).not.toBe(uuid);
  expect(isOwnSecret(passphrase)).toBe(true);
  expect(isOwnSecret({ ...passphrase, usage: 'passphrase.k2' })).toBe(false);
  expect(isOwnSecret({ uuid, usage: 'k1' })).toBe(false);
});

it('the kernel names the address from which packets leave, without a packet', async () => {
  expect(await kernelSourceAddress('127.0.0.1')).toBe('127.0.0.1');
});

it.each(['10.0.0.1', '', ':3300', 'fd00::1:3300', '10.0.0.1:x'])(
  'the monitor %j is refused',
  (monitor) => {
    expect(() => monitorAddress(monitor)).toThrow('is not an address with a port');
  },
);
