import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHostDriverSettings } from '@gantry/agent/libvirt/host-driver-settings';
import {
  type LibvirtHostDriver,
  openLibvirtHostDriver,
} from '@gantry/agent/libvirt/libvirt-host-driver';
import type { DiskSpec } from '@gantry/agent/spec';
import { makeDisk, makeVm } from '@gantry/agent/testing/make-spec';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import { IMAGE_SNAPSHOT, type StorageCluster } from '@gantry/ceph/storage-cluster';
import { createLog } from '@gantry/daemon/log';
import { createSettingsReader } from '@gantry/daemon/settings';
import { MIB } from '@gantry/daemon/units';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { acceleratorEnvironment } from '@gantry/testkit/real-host/accelerator';
import { openGuestShell } from '@gantry/testkit/real-host/guest/guest-shell';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { type PrivateLibvirtd, startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const VM = '4f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d35';
const OTHER_VM = '5f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d36';
const DOMAIN = `gantry-${VM}`;
const POOL = 'volumes';
/** What QEMU may take to give up, and a busy machine to notice. The default of Ceph is 300 s. */
const SOON_MS = 12_000;
/** An emulated guest on a busy machine needs minutes to boot. */
const BOOT = { timeout: 600_000 };

/** Of the OS disk and of one other disk. */
const PASSPHRASE = 'cGFzc3BocmFzZSBvZiB0aGUgdGVzdA';
const LUKS_HEADER_MIB = 4;

let ceph: TestCeph;
let cluster: StorageCluster;
let libvirtd: PrivateLibvirtd;
let driver: LibvirtHostDriver;
let directory: string;
let sysfsRoot: string;
let os: DiskSpec;
let copyMs: number;
/** What QEMU says about the differences between the OS disk before its first start and its image. */
let comparison: string;

const virsh = (...args: string[]) => libvirtd.run('virsh', '--quiet', ...args);
const domain = async () => await driver.hypervisor.read(VM);
const sizeOf = async (id: string) =>
  (await domain())?.disks.find((disk) => disk.id === id)?.sizeBytes;
const sizeInCluster = async (id: string): Promise<number> =>
  JSON.parse(await ceph.run('rbd', 'info', '--format', 'json', `${POOL}/${id}`)).size;

/** A volume and a key, as the control plane gives them to a host. */
async function makeVolume(id: string, sizeMib: number, rbd: Partial<DiskSpec['rbd']> = {}) {
  await ceph.run('rbd', 'create', '--size', `${sizeMib}M`, `${POOL}/${id}`);
  return await volumeOf(id, sizeMib, rbd);
}

/** An encrypted volume as the control plane makes it: empty, or a copy of an image. */
async function makeEncrypted(id: string, sizeMib: number, image?: string) {
  await cluster.createVolume({
    ...{ pool: POOL, name: id, sizeBytes: sizeMib * MIB, ...(image && { image }) },
    ...{ labels: { installation: 'test', resource: id }, encryption: { passphrase: PASSPHRASE } },
  });
  return await volumeOf(id, sizeMib, { passphrase: PASSPHRASE });
}

async function volumeOf(id: string, sizeMib: number, rbd: Partial<DiskSpec['rbd']> = {}) {
  const caps = ['mon', 'allow r', 'osd', `profile rbd pool=${POOL}`];
  await ceph.run('ceph', 'auth', 'get-or-create', `client.k-${id}`, ...caps);
  const key = (await ceph.run('ceph', 'auth', 'get-key', `client.k-${id}`)).trim();
  const { monitors } = ceph;
  return makeDisk(id, {
    ...{ sizeBytes: String(sizeMib * MIB), exists: true, serialNumber: id.slice(0, 20) },
    rbd: { monitors, pool: POOL, image: id, user: `k-${id}`, key, passphrase: '', ...rbd },
  });
}

/** A volume as options of QEMU's programs. */
const inCluster = (id: string) =>
  `file.driver=rbd,file.pool=${POOL},file.image=${id},file.conf=${ceph.configFile}`;
const decrypted = (id: string) => [
  ...['--object', `secret,id=p,data=${PASSPHRASE}`],
  ...['--image-opts', `driver=luks,key-secret=p,${inCluster(id)}`],
];

async function timed<T>(work: Promise<T>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

async function openDriver(): Promise<LibvirtHostDriver> {
  const reader = createSettingsReader({
    GANTRY_LIBVIRT_SOCKET: libvirtd.socketPath,
    GANTRY_STATE_DIRECTORY: join(directory, 'state'),
    GANTRY_DATA_DIRECTORY: join(directory, 'data'),
    GANTRY_SYSFS_ROOT: sysfsRoot,
    GANTRY_STAND_IN_DEVICES: '1',
    ...(await acceleratorEnvironment()),
  });
  const network = { storageAddress: '127.0.0.1', cephConfFile: join(directory, 'ceph.conf') };
  const log = createLog({ process: 'test', level: process.env['GANTRY_TEST_LOG'] ?? 'silent' });
  return await openLibvirtHostDriver({ ...readHostDriverSettings(reader), ...network }, log);
}

beforeAll(async () => {
  const guest = await buildTinyGuest({ directory: tinyGuestDirectory });
  directory = await mkdtemp(join(tmpdir(), 'gantry-host-volumes-'));
  sysfsRoot = await writeStandIns(directory);
  ceph = await startCeph();
  libvirtd = await startPrivateLibvirtd();
  driver = await openDriver();
  const conf = `conf=${ceph.configFile}`;
  await ceph.run('qemu-img', 'convert', '-O', 'raw', guest.path, `rbd:${POOL}/image:${conf}`);
  await ceph.run('rbd', 'snap', 'create', '--no-progress', `${POOL}/image@${IMAGE_SNAPSHOT}`);
  cluster = connectCeph(ceph);
  const imageMib = (await sizeInCluster('image')) / MIB;
  const startMs = performance.now();
  os = await makeEncrypted('os', imageMib, 'image');
  copyMs = performance.now() - startMs;
  comparison = await ceph
    .run('qemu-img', 'compare', ...decrypted('os'), `driver=raw,${inCluster('image')}`)
    .catch(String);
  const vm = makeVm(VM, { cpuCores: 1, memoryMib: 256, interfaces: [], disks: [os], image: null });
  await driver.seeds.ensure(vm);
  await driver.hypervisor.define(vm);
  await driver.hypervisor.start(VM, '1');
}, 300_000);

afterAll(async () => {
  await driver?.hypervisor.powerOff(VM).catch(() => {});
  await driver?.close();
  await libvirtd?.stop();
  await cluster?.close();
  await ceph?.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('a VM on a volume', () => {
  it('has an encrypted OS disk with every byte of its image, also with the zeros', () => {
    // QEMU decrypts what was never written to noise.
    expect(comparison).toBe('Images are identical.\n');
  });

  it(
    'starts from an encrypted one, shows its size, and its secrets are in no file of libvirt',
    BOOT,
    async () => {
      await expect.poll(() => driver.hypervisor.readSerialLog(VM), BOOT).toContain('TINY: READY');
      expect(await domain()).toMatchObject({
        state: 'running',
        disks: [{ sizeBytes: os.sizeBytes }],
      });
      expect(await virsh('secret-list')).toContain('client.k-os');
      for (const secret of [os.rbd?.key ?? 'none', PASSPHRASE]) {
        const found = libvirtd.run('grep', '-rlF', secret, libvirtd.directory, directory);
        await expect(found).rejects.toThrow();
      }
      for (const usage of ['client.k-os', 'passphrase.k-os'])
        await expect(virsh('secret-get-value', await secretOf(usage))).rejects.toThrow('private');
    },
  );

  it('attaches, grows and detaches others while it runs, and leaves no secret', async () => {
    const data = await makeVolume('data', 64);
    const attachMs = await timed(driver.hypervisor.attachDisk(VM, data));
    await driver.hypervisor.attachDisk(VM, data);
    expect(await sizeOf('data')).toBe(String(64 * MIB));
    const larger = { ...data, sizeBytes: String(128 * MIB) };
    const growMs = await timed(driver.hypervisor.growDisk(VM, larger));
    await driver.hypervisor.growDisk(VM, larger);
    expect(await sizeOf('data')).toBe(String(128 * MIB));
    expect(await sizeInCluster('data')).toBe(128 * MIB);
    const shrink = driver.hypervisor.growDisk(VM, data);
    await expect(shrink).rejects.toMatchObject({ code: 'disk_shrink' });
    expect(await sizeInCluster('data')).toBe(128 * MIB);
    const detachMs = await timed(driver.hypervisor.detachDisk(VM, 'data'));
    expect((await domain())?.disks).toHaveLength(1);
    expect(await virsh('secret-list')).not.toContain('client.k-data');
    expect(await sizeInCluster('data')).toBe(128 * MIB);
    process.stdout.write(`${JSON.stringify({ attachMs, growMs, detachMs })}\n`);
  });

  it('writes to an encrypted volume what the cluster never sees, and grows it', BOOT, async () => {
    const data = await makeEncrypted('hidden', 16);
    const attachMs = await timed(driver.hypervisor.attachDisk(VM, data));
    expect(await sizeOf('hidden')).toBe(String(16 * MIB));
    const larger = { ...data, sizeBytes: String(24 * MIB) };
    const growMs = await timed(driver.hypervisor.growDisk(VM, larger));
    await driver.hypervisor.growDisk(VM, larger);
    expect(await sizeOf('hidden')).toBe(larger.sizeBytes);
    expect(await sizeInCluster('hidden')).toBe((24 + LUKS_HEADER_MIB) * MIB);
    const guest = await openGuestShell({ socketPath: libvirtd.socketPath, domain: DOMAIN });
    const find = 'basename $(dirname $(grep -l hidden /sys/block/vd*/serial))';
    await expect.poll(() => guest.run(find).catch(String), BOOT).toMatch(/^vd.\n$/);
    const device = (await guest.run(find)).trim();
    const pattern = 'THE-GUEST-WROTE-THIS';
    await guest.run(
      `yes ${pattern} | head -c 1048576 > /run/p && dd if=/run/p of=/dev/${device} bs=1M`,
    );
    await guest.run('sync');
    await guest.close();
    const countIn = async (command: string) =>
      Number(await ceph.run('sh', '-c', `${command} | grep -ac ${pattern} || true`));
    expect(await countIn(`rbd export --no-progress ${POOL}/hidden -`)).toBe(0);
    const file = join(directory, 'decrypted');
    await ceph.run('qemu-img', 'convert', '-O', 'raw', ...decrypted('hidden'), file);
    expect(await countIn(`cat ${file}`)).toBeGreaterThan(40_000);
    process.stdout.write(`${JSON.stringify({ encrypted: { copyMs, attachMs, growMs } })}\n`);
    await driver.hypervisor.detachDisk(VM, 'hidden');
    expect(await virsh('secret-list')).not.toContain('k-hidden');
    const wrong = { ...data, rbd: data.rbd && { ...data.rbd, passphrase: 'wrong' } };
    const attach = driver.hypervisor.attachDisk(VM, wrong);
    await expect(attach).rejects.toMatchObject({ code: 'storage_denied' });
    expect(await domain()).toMatchObject({ state: 'running', disks: [{ id: 'os' }] });
  });

  it(
    'reads and writes no faster than its disks may, and a change applies at once',
    BOOT,
    async () => {
      const data = await makeVolume('limited', 16);
      const [iops, requests] = [5, 60];
      await driver.hypervisor.attachDisk(VM, { ...data, tune: { total_iops_sec: String(iops) } });
      const guest = await openGuestShell({ socketPath: libvirtd.socketPath, domain: DOMAIN });
      const find = 'basename $(dirname $(grep -l limited /sys/block/vd*/serial))';
      await expect.poll(() => guest.run(find).catch(String), BOOT).toMatch(/^vd.\n$/);
      const device = (await guest.run(find)).trim();
      const read = (skip: number) =>
        timed(
          guest.run(
            `dd if=/dev/${device} of=/dev/null bs=4k count=${requests} skip=${skip} iflag=direct`,
          ),
        );
      const limitIn = async () => await virsh('blkdeviotune', DOMAIN, 'vdb');
      expect(await limitIn()).toMatch(/total_iops_sec *: 5\n/);
      const limitedMs = await read(0);
      // QEMU lets a tenth of a second's requests pass at once.
      expect(limitedMs).toBeGreaterThan(((requests - iops) / iops) * 1_000 * 0.9);
      await driver.hypervisor.limitDisk(VM, { ...data, tune: { total_iops_sec: '100000' } });
      expect(await limitIn()).toMatch(/total_iops_sec *: 100000\n/);
      const afterwardsMs = await read(requests);
      expect(afterwardsMs).toBeLessThan(limitedMs / 2);
      await driver.hypervisor.limitDisk(VM, data);
      expect(await limitIn()).toMatch(/total_iops_sec *: 0\n/);
      process.stdout.write(`${JSON.stringify({ requests, limitedMs, afterwardsMs })}\n`);
      await guest.close();
      await driver.hypervisor.detachDisk(VM, 'limited');
    },
  );

  it('is frozen and thawed by its guest agent, and writes nothing in between', BOOT, async () => {
    const file = join(directory, 'frozen.ext4');
    await libvirtd.run('mkfs.ext4', '-q', file, '16M');
    await ceph.run('rbd', 'import', '--no-progress', file, `${POOL}/frozen`);
    await driver.hypervisor.attachDisk(VM, await volumeOf('frozen', 16));
    const guest = await openGuestShell({ socketPath: libvirtd.socketPath, domain: DOMAIN });
    const find = 'basename $(dirname $(grep -l frozen /sys/block/vd*/serial))';
    await expect.poll(() => guest.run(find).catch(String), BOOT).toMatch(/^vd.\n$/);
    const device = (await guest.run(find)).trim();
    await guest.run(`mkdir -p /run/data && mount -t ext4 /dev/${device} /run/data`);
    await guest.begin('while [ ! -e /run/enough ]; do date >> /run/data/log; sync; done');
    const content = () =>
      ceph.run('sh', '-c', `rbd export --no-progress ${POOL}/frozen - | sha256sum`);
    const before = await content();
    await expect.poll(content, BOOT).not.toBe(before);
    const count = await driver.hypervisor.freezeGuest(VM);
    expect(count).toBeGreaterThan(0);
    const frozen = await content();
    expect(await content()).toBe(frozen);
    expect(await driver.hypervisor.thawGuest(VM)).toBe(count);
    expect(await driver.hypervisor.thawGuest(VM)).toBe(0);
    await expect.poll(content, BOOT).not.toBe(frozen);
    await guest.run('touch /run/enough');
    await expect.poll(() => guest.run('umount /run/data').catch(String), BOOT).toBe('');
    await guest.close();
    await driver.hypervisor.detachDisk(VM, 'frozen');
  });

  it('keeps a volume from a second VM of the host', async () => {
    const second = makeVm(OTHER_VM, {
      ...{ cpuCores: 1, memoryMib: 256, interfaces: [], disks: [os], image: null },
    });
    await driver.seeds.ensure(second);
    await driver.hypervisor.define(second);
    const start = driver.hypervisor.start(OTHER_VM, '1');
    await expect(start).rejects.toMatchObject({ code: 'disk_in_use' });
    await driver.hypervisor.undefine(OTHER_VM);
    expect(await virsh('secret-list')).toContain('client.k-os');
  });
});

describe('a volume that cannot be opened', () => {
  it('with a wrong key is refused soon, and the VM goes on', async () => {
    const wrong = await makeVolume('wrong', 16, { key: ceph.key });
    const attach = driver.hypervisor.attachDisk(VM, wrong);
    const ms = await timed(attach.catch(() => {}));
    await expect(attach).rejects.toMatchObject({ code: 'storage_denied', isFinal: true });
    expect(ms).toBeLessThan(SOON_MS);
    expect(await domain()).toMatchObject({ state: 'running', disks: [{ id: 'os' }] });
  });

  it('is missing if the cluster does not have it', async () => {
    const attach = driver.hypervisor.attachDisk(VM, await volumeOf('gone', 16));
    await expect(attach).rejects.toMatchObject({ code: 'disk_missing' });
  });

  it('is unreachable while no monitor replies, and is attached afterwards', async () => {
    const late = await makeVolume('late', 16);
    ceph.mon.suspend();
    try {
      const attach = driver.hypervisor.attachDisk(VM, late);
      const ms = await timed(attach.catch(() => {}));
      await expect(attach).rejects.toMatchObject({ code: 'storage_unreachable' });
      expect(ms).toBeLessThan(SOON_MS);
    } finally {
      ceph.mon.resume();
    }
    await expect.poll(() => ceph.run('ceph', 'mon', 'stat')).toContain('quorum');
    await driver.hypervisor.attachDisk(VM, late);
    await driver.hypervisor.detachDisk(VM, 'late');
  });
});

it('an OSD that does not reply does not keep the agent from reading the domain', async () => {
  ceph.osds[0]?.suspend();
  try {
    expect(await domain()).toMatchObject({ state: 'running' });
    expect(await driver.hypervisor.list()).toMatchObject([{ vmId: VM, state: 'running' }]);
    expect(await sizeOf('os')).toBe(os.sizeBytes);
  } finally {
    ceph.osds[0]?.resume();
  }
});

it('after restarts of libvirtd and the agent, volumes are attached and detached as before', async () => {
  const again = await makeVolume('again', 16);
  await libvirtd.restartDaemon('libvirtd');
  await expect.poll(() => virsh('secret-list')).toContain('client.k-os');
  await expect.poll(() => virsh('secret-list')).toContain('passphrase.k-os');
  await driver.close();
  driver = await openDriver();
  expect(await sizeOf('os')).toBe(os.sizeBytes);
  await driver.hypervisor.attachDisk(VM, again);
  await driver.hypervisor.detachDisk(VM, 'again');
  expect(await virsh('secret-list')).not.toContain('client.k-again');
  expect(await virsh('domstate', DOMAIN)).toContain('running');
});

async function secretOf(user: string): Promise<string> {
  const line = (await virsh('secret-list')).split('\n').find((text) => text.includes(user)) ?? '';
  return line.trim().split(/\s+/)[0] ?? '';
}
