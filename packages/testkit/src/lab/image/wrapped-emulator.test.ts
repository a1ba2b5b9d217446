import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WRAPPED, WRAPPER } from './wrap-emulator.ts';

const FIRMWARE = ['-drive', 'if=pflash,unit=0,file=OVMF_CODE_4M.fd'];
const KVM = ['-accel', 'kvm'];
const ADDED = ['-machine', 'kernel-irqchip=off', '-global', 'host-x86_64-cpu.kvm-asyncpf-int=off'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gantry-emulator-'));
  const program = path.join(folder, 'qemu');
  copyFileSync(WRAPPER, program);
  const wrapped = path.join(folder, path.basename(WRAPPED));
  writeFileSync(wrapped, '#!/bin/bash\nprintf "%s\\n" "$@"\n');
  for (const file of [program, wrapped]) chmodSync(file, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the arguments that QEMU itself gets. */
const passedOn = (args: readonly string[], directBoot = path.join(folder, 'none')) =>
  execFileSync(path.join(folder, 'qemu'), args, {
    encoding: 'utf8',
    env: { ...process.env, GANTRY_LAB_DIRECT_BOOT: directBoot },
  })
    .trimEnd()
    .split('\n');

test.each([
  ['by libvirt', [...KVM, '-name', 'a name with spaces', ...FIRMWARE]],
  ['by hand', ['-machine', 'q35,accel=kvm', ...FIRMWARE]],
])(
  'a VM with firmware on KVM that is started %s has the interrupt controller of QEMU',
  (_, args) => {
    expect(passedOn(args)).toEqual([...args, ...ADDED]);
  },
);

test.each([
  ['a VM without firmware', [...KVM, '-kernel', 'vmlinuz']],
  ['an emulated VM', ['-accel', 'tcg', ...FIRMWARE]],
  ['the version', ['--version']],
])('%s is started as it was requested', (_, args) => {
  expect(passedOn(args)).toEqual(args);
});

test('a VM with firmware on KVM boots the initramfs of a test instead of its firmware', () => {
  const directBoot = path.join(folder, 'direct-boot');
  mkdirSync(directBoot);
  writeFileSync(path.join(directBoot, 'initramfs'), '');
  const [before, after] = ['pc-q35-7.2,usb=off', 'hmat=off'];
  const args = ['-machine', `${before},pflash0=code,pflash1=vars,${after}`, ...KVM, '-name', 'a b'];
  expect(passedOn(args, directBoot)).toEqual([
    ...['-machine', `${before},${after}`, ...KVM, '-name', 'a b'],
    ...['-kernel', '/lab/guest-kernel', '-initrd', path.join(directBoot, 'initramfs')],
    ...['-append', 'console=ttyS0 quiet'],
  ]);
});
