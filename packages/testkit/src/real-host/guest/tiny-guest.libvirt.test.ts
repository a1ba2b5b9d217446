import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execute } from '../execute.ts';
import { INTERFACE_LINE, type PlainGuest, startPlainGuest } from './plain-guest.ts';
import { makeSshKey, type SshKey, ssh } from './ssh.ts';
import { tinyGuestDirectory } from './tiny-guest-directory.ts';

let directory: string;
let disk: string;
let key: SshKey;
let otherKey: SshKey;
const guests: PlainGuest[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-tiny-'));
  const image = await buildTinyGuest({ directory: tinyGuestDirectory });
  disk = path.join(directory, 'os.raw');
  await execute('cp', '--sparse=always', image.path, disk);
  key = await makeSshKey(directory, 'key');
  otherKey = await makeSshKey(directory, 'other');
});

afterAll(async () => {
  for (const guest of guests) guest.kill();
  await Promise.all(guests.map((guest) => guest.ended));
  await rm(directory, { recursive: true, force: true });
});

async function boot(): Promise<PlainGuest> {
  const files = {
    'meta-data': 'instance-id: first\nlocal-hostname: tiny-one\n',
    'gantry-key': `${key.publicLine}\n`,
    'gantry-address': INTERFACE_LINE,
    'gantry-startup': '#!/bin/sh\necho started >> /root/starts\necho startup-was-here\n',
    'gantry-shutdown': '#!/bin/sh\necho stopped >> /root/stops\necho shutdown-was-here\n',
  };
  const seed = Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) }));
  const guest = await startPlainGuest({ directory, disk, seed });
  guests.push(guest);
  return guest;
}

const run = (guest: PlainGuest, command: string, as = key) =>
  ssh({ address: '127.0.0.1', port: guest.sshPort, key: as }, command);

/** The tests boot the same disk again and again, in order. */
describe('the tiny guest, booted by UEFI', { timeout: 400_000 }, () => {
  let guest: PlainGuest;
  const readHostKey = () => run(guest, 'sha256sum /etc/dropbear/dropbear_ed25519_host_key');
  let hostKey: string;

  test('boots, gets its name, address and key from the seed, and runs the startup script', async () => {
    guest = await boot();
    await expect.poll(() => guest.readConsole()).toContain('TINY: READY');
    expect(await run(guest, 'hostname; whoami')).toBe('tiny-one\nroot\n');
    await expect.poll(() => guest.readConsole()).toContain('startup script ended with 0');
    expect(await guest.readConsole()).toContain('startup-was-here');
    expect(await run(guest, 'cat /root/starts')).toBe('started\n');
    hostKey = await readHostKey();
  });

  test('refuses a login with another key', async () => {
    await expect(run(guest, 'true', otherKey)).rejects.toThrow(/Permission denied/);
  });

  test('replies on its console', async () => {
    await guest.type('echo result $((6*7))');
    await expect.poll(() => guest.readConsole()).toContain('result 42');
  });

  test('replies through the guest agent', async () => {
    expect(await guest.askAgent('guest-get-host-name')).toEqual({ 'host-name': 'tiny-one' });
  });

  test('sees a disk that is attached, and can store files on it', async () => {
    const data = path.join(directory, 'data.raw');
    await writeFile(data, '');
    await truncate(data, 16 * 1024 * 1024);
    await guest.plugDisk(data);
    await expect.poll(() => run(guest, 'cat /sys/class/block/vdc/size || true')).toBe('32768\n');
    await run(
      guest,
      'mke2fs /dev/vdc && mount /dev/vdc /mnt && echo kept > /mnt/file && umount /mnt',
    );
    expect(await run(guest, 'mount /dev/vdc /mnt && cat /mnt/file')).toBe('kept\n');
  });

  test('supports the file systems that disks and shared volumes need', async () => {
    const known = await run(guest, 'cat /proc/filesystems');
    expect(known).toMatch(/\text4\n/);
    expect(known).toMatch(/\tvirtiofs\n/);
  });

  test('runs the shutdown script and powers off if the guest agent asks for it', async () => {
    await guest.askAgent('guest-shutdown');
    expect(await guest.ended).toBe(0);
    expect(await guest.readConsole()).toContain('shutdown-was-here');
  });

  test('keeps its data and its host key, and does not run the startup script again', async () => {
    guest = await boot();
    await expect.poll(() => guest.readConsole()).toContain('TINY: READY');
    expect(await readHostKey()).toBe(hostKey);
    expect(await run(guest, 'cat /root/starts /root/stops')).toBe('started\nstopped\n');
    expect(await guest.readConsole()).not.toContain('startup-was-here');
  });

  test('runs the shutdown script and powers off if its power button is pressed', async () => {
    await guest.pressPowerButton();
    expect(await guest.ended).toBe(0);
    expect(await guest.readConsole()).toContain('shutdown-was-here');
  });
});
