import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { expect } from 'vitest';
import type { DiskSource } from '../disk-source.ts';

const EMULATORS: Partial<Record<string, [program: string, driver: string]>> = {
  arm64: ['qemu-system-aarch64', 'virt'],
  x64: ['qemu-system-x86_64', 'q35'],
};

/** An emulator that runs no instruction and has the disk open, as a domain would. */
export async function openInGuest(source: DiskSource, { readOnly }: { readOnly: boolean }) {
  const emulator = EMULATORS[process.arch];
  if (!emulator || source.type !== 'file') throw new Error('no guest can open that here');
  const access = readOnly ? 'on' : 'off';
  const file = `file.driver=file,file.filename=${source.path},file.read-only=${access}`;
  const child = spawn(emulator[0], [
    ...['-machine', emulator[1], '-accel', 'tcg', '-m', '64', '-S', '-nodefaults'],
    ...['-display', 'none', '-serial', 'none', '-monitor', 'none'],
    ...['-blockdev', `driver=${source.format},node-name=d,read-only=${access},${file}`],
    ...['-device', 'virtio-blk-pci,drive=d'],
  ]);
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
  });
  const { ino } = await stat(source.path);
  // Byte 201 is QEMU's lock against other writers, which it takes once the device has the disk.
  const locked = new RegExp(`OFDLCK .*:${ino} 20[0-9] `);
  await expect.poll(() => readFile('/proc/locks', 'utf8')).toMatch(locked);
  return {
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
