import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { execute } from './execute.ts';

const SCRIPT = fileURLToPath(new URL('../../../../deploy/prepare-host.sh', import.meta.url));
const FIRMWARE =
  process.arch === 'arm64'
    ? { directory: '/usr/share/AAVMF', packageName: 'qemu-efi-aarch64' }
    : { directory: '/usr/share/OVMF', packageName: 'ovmf' };

test('a prepared machine has nothing missing', async () => {
  expect(await execute(SCRIPT, '--check')).toContain('This machine can be a host.');
});

test('--check names exactly what is missing, and fails', async () => {
  // Hidden from this process.
  const hide = `mount -t tmpfs none ${FIRMWARE.directory} && exec ${SCRIPT} --check`;
  const { stdout, code } = await failureOf(execute('unshare', '--mount', 'sh', '-c', hide));
  expect(code).toBe(1);
  const missing = stdout.split('\n').filter((line) => !line.startsWith('note: ') && line !== '');
  expect(missing).toEqual([`missing: ${FIRMWARE.packageName}`]);
});

test('vfio-pci is loaded at every boot, and a second run changes nothing', async () => {
  const file = '/etc/modules-load.d/gantry.conf';
  // Hidden from this process, so that the machine looks new.
  const script = `mkdir -p /etc/modules-load.d && mount -t tmpfs none /etc/modules-load.d &&
    ${SCRIPT} && cat ${file} && stat -c %i ${file} && ${SCRIPT} && stat -c %i ${file} && ls ${file}*`;
  const lines = (await execute('unshare', '--mount', 'sh', '-c', script)).trim().split('\n');
  expect(lines.filter((line) => line.startsWith('+ write'))).toEqual([`+ write ${file}`]);
  expect(lines.filter((line) => line === 'vfio-pci')).toHaveLength(1);
  const inodes = lines.filter((line) => /^\d+$/.test(line));
  expect(inodes).toEqual([inodes[0], inodes[0]]);
  expect(lines.at(-1)).toBe(file);
});

test('an unknown argument is refused and changes nothing', async () => {
  expect((await failureOf(execute(SCRIPT, '--chekc'))).code).toBe(2);
});

async function failureOf(work: Promise<string>): Promise<{ stdout: string; code: number }> {
  const said = await work.catch((error: { stdout: string; code: number }) => error);
  if (typeof said === 'string') throw new Error(`succeeded with: ${said}`);
  return said;
}
