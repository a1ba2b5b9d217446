import { LIBVIRT_ERROR, LibvirtError } from 'node-libvirt/errors';
import { expect, it } from 'vitest';
import { asStorageFailure } from './storage-failure.ts';

const monitors = ['10.0.0.1:3300', '10.0.0.2:3300'];
const failed = (message: string, code: number = LIBVIRT_ERROR.internal) =>
  new LibvirtError({ code, domain: 10, level: 2, message });
const blockdev = (text: string) =>
  failed(`internal error: unable to execute QEMU command 'blockdev-add': ${text}`);

it.each([
  ['error reading header from V: No such file or directory', 'disk_missing'],
  ['error reading header from V: Operation not permitted', 'storage_denied'],
  ['error reading header from V: Cannot send after transport endpoint shutdown', 'storage_fenced'],
  ['error connecting: Cannot send after transport endpoint shutdown', 'storage_fenced'],
  ['error connecting: Operation not permitted', 'storage_denied'],
  ['error reading conf file /etc/ceph/gantry.conf: Permission denied', 'storage_unsupported'],
  ["Unknown driver 'rbd'", 'storage_unsupported'],
  ['Invalid password, cannot unlock any keyslot', 'storage_denied'],
  ['Failed to resize: No space left on device', 'pool_full'],
])('"%s" is %s', async (text, code) => {
  const failure = await asStorageFailure(blockdev(text), { monitors, probe: async () => true });
  expect(failure).toMatchObject({ code, message: expect.stringContaining(text) });
});

it('a time limit is a refused key if a monitor accepts connections, else an unreachable cluster', async () => {
  const late = blockdev('error connecting: Connection timed out');
  const reached = async (monitor: string) => monitor === monitors[1];
  expect(await asStorageFailure(late, { monitors, probe: reached })).toMatchObject({
    ...{ code: 'storage_denied', isFinal: true },
  });
  expect(await asStorageFailure(late, { monitors, probe: async () => false })).toMatchObject({
    ...{ code: 'storage_unreachable', isFinal: true },
    message: expect.stringContaining('10.0.0.1:3300, 10.0.0.2:3300'),
  });
});

it('the cause is found in the output of a QEMU that ended', async () => {
  const output =
    'internal error: process exited while connecting to monitor: 2026-11-18 monclient(hunting): x\n' +
    '2026-11-18T09:00:00Z qemu-system-x86_64: -blockdev {"driver":"rbd"}: error reading header from V: No such file or directory\n';
  const failure = await asStorageFailure(failed(output), { monitors });
  expect(failure).toMatchObject({ code: 'disk_missing' });
});

it('other errors stay as they are', async () => {
  for (const error of [
    new Error('error connecting: Connection timed out'),
    failed('error reading header from V: No such file or directory', LIBVIRT_ERROR.noDomain),
    blockdev('Duplicate nodes with node-name'),
  ]) {
    expect(await asStorageFailure(error, { monitors, probe: async () => true })).toBe(error);
  }
});
