import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { execute } from '@gantry/testkit/real-host/execute';
import { enterGuest } from '@gantry/testkit/real-host/guest/guest-shell';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import {
  BESIDE,
  LOCATION,
  type RealCloud,
  startRealCloud,
  VM_TYPE,
} from '@gantry/testkit/real-host/real-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Images of projects without network storage: real guests, disks in files, and the conversion by QEMU's program. */

/** As the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Shown = any;

const SSH_PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me';

/** An emulated guest boots slowly. */
const PATIENCE = { timeout: 180_000 };

let root: string;
let cloud: RealCloud;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'gantry-stored-images-'));
  const environment = {
    GANTRY_IMAGE_STORE_DIRECTORY: path.join(root, 'store'),
    GANTRY_IMAGE_UPLOADS_DIRECTORY: path.join(root, 'uploads'),
  };
  for (const directory of Object.values(environment)) await mkdir(directory);
  cloud = await startRealCloud(['one', 'two'], {
    ...{ ...BESIDE, apiEnvironment: environment, prepare: async () => environment },
  });
});
afterAll(async () => {
  await cloud?.stop();
  if (root) await rm(root, { recursive: true, force: true });
});

const ended = async (method: string, to: string, body?: object): Promise<Shown> => {
  const operation = await cloud.client.ended(await cloud.client.open(method, to, body));
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
/** Keeps new VMs from a host. */
async function cordon(name: string): Promise<void> {
  const { body } = await cloud.client.admin('GET', '/hosts');
  const { id } = body.items.find((host: Shown) => host.name === name);
  const { status } = await cloud.client.admin('POST', `/hosts/${id}:cordon`, {});
  expect(status).toBe(200);
}
const filesOf = async (imageId: string) =>
  await readdir(path.join(root, 'store', imageId)).catch(() => [] as string[]);

it('a VM from an image of a snapshot has on another host what was written in the first guest', async () => {
  const first = await createVm('first', 'tiny');
  await inGuest(first, 'echo made by the tenant > /root/mark && sync');
  const { name: home } = await cloud.hostOf(first.id);
  // QEMU would write the zeroes of the whole disk, and this machine may not have the space.
  await ended('PATCH', `/vms/${first.id}`, { action: 'STOP' });
  const snapshot = await ended('POST', '/snapshots', {
    ...{ name: 'prepared', disk_id: first.disks[0].id },
  });
  const startedAt = performance.now();
  const image = await ended('POST', '/images', { name: 'golden', snapshot_id: snapshot.id });
  const ms = Math.round(performance.now() - startedAt);
  process.stdout.write(`From a snapshot of 128 GiB on a host to an image: ${ms} ms.\n`);
  expect(await filesOf(image.id)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.qcow2$/)]);
  await ended('DELETE', `/snapshots/${snapshot.id}`);

  await cordon(home);
  const second = await createVm('second', 'golden');
  expect((await cloud.hostOf(second.id)).name).not.toBe(home);
  expect(await inGuest(second, 'cat /root/mark')).toBe('made by the tenant\n');

  await ended('DELETE', `/images/${image.id}`);
  await ended('PATCH', `/vms/${second.id}`, { action: 'STOP' });
  await ended('PATCH', `/vms/${second.id}`, { action: 'START' });
  expect(await inGuest(second, 'cat /root/mark')).toBe('made by the tenant\n');
  await ended('DELETE', `/vms/${second.id}`);
  await ended('DELETE', `/vms/${first.id}`);
  await expect.poll(() => filesOf(image.id), PATIENCE).toEqual([]);
});

it('a qcow2 file that is uploaded becomes a VM', async () => {
  const guest = await buildTinyGuest({ directory: tinyGuestDirectory });
  const file = path.join(root, 'tiny.qcow2');
  await execute('qemu-img', 'convert', '-c', '-O', 'qcow2', guest.path, file);
  const content = await readFile(file);
  const { call } = cloud.client;
  const { body } = await call('POST', '/images', {
    ...{ name: 'uploaded', location: LOCATION, size: '8GiB', format: 'qcow2' },
    ...{ upload_bytes: content.length },
    sha256: createHash('sha256').update(content).digest('hex'),
  });
  const { id } = body.operation.metadata;
  for (let offset = 0; offset < content.length; ) {
    const data = content.subarray(offset, offset + 4 * 2 ** 20);
    const chunk = { offset, data: data.toString('base64') };
    expect((await call('POST', `/images/${id}/upload`, chunk)).status).toBe(200);
    offset += data.length;
  }
  await ended('POST', `/images/${id}:finish-upload`, {});
  expect(await readdir(path.join(root, 'uploads'))).toEqual([]);
  const vm = await createVm('third', 'uploaded');
  expect(await inGuest(vm, 'hostname')).toBe('third\n');
  await ended('DELETE', `/vms/${vm.id}`);
});
