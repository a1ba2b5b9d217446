import { type CephCloud, startCephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { enterGuest } from '@gantry/testkit/real-host/guest/guest-shell';
import { LOCATION, VM_TYPE } from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** As the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;

const SSH_PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me';

let cloud: CephCloud;
/** A VM from a custom image. */
let second: Shown;
let image: Shown;
beforeAll(async () => {
  cloud = await startCephCloud(['one']);
});
afterAll(async () => {
  await cloud?.stop();
});

const ended = async (method: string, path: string, body?: object): Promise<Shown> => {
  const operation = await cloud.client.ended(await cloud.client.open(method, path, body));
  expect(operation).toMatchObject({ state: 'SUCCEEDED' });
  return operation.result;
};
const createVm = (name: string, image: string) =>
  ended('POST', '/vms', {
    ...{ name, type: VM_TYPE, location: LOCATION, image, ssh_public_key: SSH_PUBLIC_KEY },
  });
async function inGuest(vm: Shown, command: string): Promise<string> {
  const guest = await enterGuest(await cloud.hostOf(vm.id), vm.id);
  try {
    return await guest.run(command);
  } finally {
    await guest.close();
  }
}
const volumes = async (): Promise<string[]> =>
  JSON.parse(await cloud.ceph.run('rbd', 'ls', 'volumes', '--format', 'json'));

async function activateEncryptedPool(): Promise<void> {
  const { admin } = cloud.client;
  await cloud.ceph.run('ceph', 'osd', 'pool', 'create', 'encrypted', '1');
  await cloud.ceph.run('rbd', 'pool', 'init', 'encrypted');
  const { storage_cluster_id } = (await admin('GET', `/storage/pools/${cloud.poolId}`)).body;
  const { status, body } = await admin('POST', '/storage/pools', {
    ...{ storage_cluster_id, name: 'encrypted', location: LOCATION, disk_type: 'persistent-ssd' },
    ...{ encrypted: true, active: false, overcommit_percent: 1_000 },
  });
  expect(status).toBe(200);
  await admin('PATCH', `/storage/pools/${cloud.poolId}`, { active: false });
  const activated = await admin('PATCH', `/storage/pools/${body.id}`, { active: true });
  expect(activated).toMatchObject({ status: 200 });
}

it('a VM from a custom image has what was written in the guest of the snapshot', async () => {
  const first = await createVm('first', 'tiny');
  await inGuest(first, 'echo made by the tenant > /root/mark && sync');
  const disk_id = first.disks[0].id;
  const snapshot = await ended('POST', '/snapshots', { name: 'prepared', disk_id });
  const startedAt = performance.now();
  image = await ended('POST', '/images', { name: 'golden', snapshot_id: snapshot.id });
  const ms = Math.round(performance.now() - startedAt);
  process.stdout.write(`From a snapshot of 128 GiB to an image: ${ms} ms.\n`);
  await ended('DELETE', `/snapshots/${snapshot.id}`);
  await ended('DELETE', `/vms/${first.id}`);

  second = await createVm('second', 'golden');
  expect(second).toMatchObject({ state: 'STATE_RUNNING' });
  expect(await inGuest(second, 'cat /root/mark')).toBe('made by the tenant\n');
  const info = await cloud.ceph.run(
    ...(['rbd', 'info', `volumes/${second.disks[0].id}`, '--format', 'json'] as const),
  );
  expect(JSON.parse(info).parent.image).toBe(`image-${image.id}`);
});

it('after a new start a VM has its deleted image and its encrypted disk, whose content the cluster never has', async () => {
  await activateEncryptedPool();
  const disk = await ended('POST', '/disks', { name: 'hidden', size: '1GiB', location: LOCATION });
  expect(disk).toMatchObject({ encrypted: true, storage: 'network' });
  await ended('POST', `/vms/${second.id}/attach-disks`, {
    attach_disks: [{ disk_id: disk.id, mode: 'read-write' }],
  });
  const find = `until grep -l ${disk.serial_number} /sys/block/vd*/serial; do sleep 0.1; done`;
  const device = `/dev/$(basename $(dirname $(${find})))`;
  const pattern = 'THE-GUEST-WROTE-THIS';
  await inGuest(second, `yes ${pattern} | head -c 1048576 > ${device} && sync`);
  const inCluster = (count: string) =>
    cloud.ceph.run('sh', '-c', `rbd export-diff --no-progress encrypted/${disk.id} - | ${count}`);
  expect(Number(await inCluster('wc -c'))).toBeGreaterThan(2 ** 20);
  expect(await inCluster(`grep -ac ${pattern} || true`)).toBe('0\n');

  await ended('DELETE', `/images/${image.id}`);
  await ended('PATCH', `/vms/${second.id}`, { action: 'STOP' });
  await ended('PATCH', `/vms/${second.id}`, { action: 'START' });
  expect(await inGuest(second, 'cat /root/mark')).toBe('made by the tenant\n');
  expect(await inGuest(second, `head -c ${pattern.length} ${device}`)).toBe(pattern);
  expect(await volumes()).toContain(`image-${image.id}`);
  await ended('DELETE', `/vms/${second.id}`);
  await expect.poll(volumes).not.toContain(`image-${image.id}`);

  const { sql } = cloud.processes;
  const passphrases = () => sql`select disk_id::text from volume_passphrases`;
  expect(await passphrases()).toEqual([{ disk_id: disk.id }]);
  await ended('DELETE', `/disks/${disk.id}`);
  await expect.poll(passphrases).toEqual([]);
});
