import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const source = fileURLToPath(new URL('x64/qemu-system-x86_64', import.meta.url));
const FIRMWARE = ['-drive', 'if=pflash,unit=0,file=OVMF_CODE_4M.fd'];
const KVM = ['-accel', 'kvm'];
const ADDED = ['-machine', 'kernel-irqchip=off', '-global', 'host-x86_64-cpu.kvm-asyncpf-int=off'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gantry-emulator-'));
  const program = path.join(folder, 'qemu');
  copyFileSync(source, program);
  writeFileSync(`${program}.real`, '#!/bin/bash\nprintf "%s\\n" "$@"\n');
  for (const file of [program, `${program}.real`]) chmodSync(file, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the arguments that QEMU itself gets. */
const passedOn = (args: readonly string[]) =>
  execFileSync(path.join(folder, 'qemu'), args, { encoding: 'utf8' }).trimEnd().split('\n');

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
