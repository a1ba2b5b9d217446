import { chmod, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Platform } from '../domain-xml/domain-definition.ts';
import { type ProbeOptions, probeKvm } from './kvm-probe.ts';

/** A dead process is reaped long before this. */
const LONG_MS = 60_000;
const NOBODY = 65_534;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-kvm-probe-'));
  await chmod(directory, 0o755);
  await writeFile(file('kvm'), '');
  await writeFile(file('boot_id'), 'first boot\n');
  await writeFile(file('loader'), 'firmware');
});
afterEach(() => rm(directory, { recursive: true }));

const file = (name: string) => join(directory, name);

/** A replacement for QEMU. It records each start and then runs `script`. */
async function install(script: string, version = '8.2.2') {
  const lines = [
    '#!/bin/sh',
    `[ "$1" = --version ] && echo "QEMU emulator version ${version}" && exit`,
    `echo $$ >>${file('starts')}`,
    `echo "$@" >${file('arguments')}`,
    script,
  ];
  // A running script cannot be overwritten, only replaced.
  await rm(file('emulator'), { force: true });
  await writeFile(file('emulator'), `${lines.join('\n')}\n`, { mode: 0o755 });
}

const PRINT = "printf 'UEFI firmware\\r\\n\\033[2J\\033[01;01H'; exec sleep 600";

const platform = (): Platform => ({
  ...{
    arch: 'x86_64',
    machine: 'q35',
    machineType: 'q35',
    accel: 'kvm',
    cpu: 'host-passthrough',
    gic: 'host',
  },
  emulator: file('emulator'),
  firmware: { loader: file('loader'), nvramTemplate: file('variables') },
});

const probe = (over: Partial<ProbeOptions> = {}) =>
  probeKvm({
    ...{ platform: platform(), directory, limitMs: LONG_MS },
    ...{ kvmDevice: file('kvm'), bootIdFile: file('boot_id') },
    ...over,
  });

async function starts(): Promise<string[]> {
  const text = await readFile(file('starts'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

const isAlive = (pid: string) => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

describe('a probe of KVM', () => {
  it('finds no file, and starts no emulator', async () => {
    await install(PRINT);
    expect(await probe({ kvmDevice: file('none') })).toEqual({
      ...{ result: 'no_file', durationMs: 0, remembered: false },
      detail: `${file('none')} does not exist`,
    });
    expect(await starts()).toEqual([]);
  });

  it('finds a file without permission, and starts no emulator', async () => {
    await install(PRINT);
    await chmod(file('kvm'), 0o000);
    // Root may open every file.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      expect(await probe()).toMatchObject({
        ...{ result: 'no_permission', remembered: false },
        detail: expect.stringContaining('permission denied'),
      });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(await starts()).toEqual([]);
  });

  it('works if the firmware prints to its console, and ends the emulator', async () => {
    await install(PRINT);
    expect(await probe()).toMatchObject({ result: 'works', remembered: false });
    const [pid = ''] = await starts();
    expect(isAlive(pid)).toBe(false);
  });

  it('boots the machine, CPU and firmware of VMs', async () => {
    await install(PRINT);
    await probe();
    const given = await readFile(file('arguments'), 'utf8');
    expect(given).toContain('-machine q35 -accel kvm -cpu host ');
    expect(given).toContain(`readonly=on,file=${file('loader')}`);
    expect(given).toContain(`snapshot=on,file=${file('variables')}`);
  });

  it('hangs if nothing is printed within the limit, and kills and reaps the emulator', async () => {
    // A shell that ignores SIGTERM: only SIGKILL ends it.
    await install(`trap '' TERM; while :; do sleep 0.1; done`);
    expect(await probe({ limitMs: 300 })).toMatchObject({
      result: 'hangs',
      detail: 'the firmware of a test VM printed nothing within 0.3 s',
    });
    for (const pid of await starts()) expect(isAlive(pid)).toBe(false);
  });

  it('does not take the banner from before paging for a console', async () => {
    await install(`printf 'UEFI firmware (version 2024)\\r\\n'; exec sleep 600`);
    expect(await probe({ limitMs: 1_000 })).toMatchObject({ result: 'hangs' });
  });

  it('fails with the error text of an emulator that ends', async () => {
    await install(
      `echo 'qemu: warning: old CPU' >&2; echo 'Could not access KVM kernel module: busy' >&2; exit 1`,
    );
    expect(await probe()).toMatchObject({
      result: 'fails',
      detail: 'a test VM did not run: Could not access KVM kernel module: busy',
    });
  });

  it('fails at once if the vCPU stops while the emulator runs on', async () => {
    const error =
      'KVM internal error. Suberror: 1\\nextra data[0]: 0x1\\nemulation failure\\nRAX=0';
    await install(`printf '${error}\\n' >&2; exec sleep 600`);
    expect(await probe()).toMatchObject({
      result: 'fails',
      detail: expect.stringContaining('KVM internal error. Suberror: 1'),
    });
  });

  it('fails if the emulator ends without output, as after a triple fault', async () => {
    await install('exit 0');
    expect(await probe()).toMatchObject({
      result: 'fails',
      detail: expect.stringContaining('ended with status 0 and printed nothing'),
    });
  });

  it('fails if the emulator cannot be started', async () => {
    expect(await probe()).toMatchObject({ result: 'fails' });
  });
});

describe('the result of a probe', () => {
  it.each([
    ['works', PRINT],
    ['fails', 'echo no >&2; exit 1'],
  ])('"%s" is remembered', async (result, script) => {
    await install(script);
    expect(await probe()).toMatchObject({ result, remembered: false });
    expect(await probe()).toMatchObject({ result, remembered: true });
    expect(await starts()).toHaveLength(1);
  });

  it('is determined again after a boot of the host', async () => {
    await install(PRINT);
    await probe();
    await writeFile(file('boot_id'), 'second boot\n');
    expect(await probe()).toMatchObject({ remembered: false });
    expect(await starts()).toHaveLength(2);
  });

  it('is determined again with another version of QEMU', async () => {
    await install('echo no >&2; exit 1');
    expect(await probe()).toMatchObject({ result: 'fails' });
    await install(PRINT, '9.0.0');
    expect(await probe()).toMatchObject({ result: 'works', remembered: false });
  });

  it('is determined again with another firmware', async () => {
    await install(PRINT);
    await probe();
    await utimes(file('loader'), 1, 1);
    expect(await probe()).toMatchObject({ remembered: false });
  });

  it('is determined again on request, and the new one is remembered', async () => {
    await install('echo no >&2; exit 1');
    await probe();
    await install(PRINT);
    expect(await probe({ fresh: true })).toMatchObject({ result: 'works', remembered: false });
    expect(await probe()).toMatchObject({ result: 'works', remembered: true });
  });

  it('is determined again if the file is damaged', async () => {
    await install(PRINT);
    await writeFile(file('kvm-probe.json'), '{"subject":');
    expect(await probe()).toMatchObject({ result: 'works', remembered: false });
  });

  it('is returned even if it cannot be stored', async () => {
    await install(PRINT);
    expect(await probe({ directory: file('none') })).toMatchObject({ result: 'works' });
  });

  it('is shared by callers that ask at the same time', async () => {
    await install(PRINT);
    const both = await Promise.all([probe(), probe()]);
    expect(both).toMatchObject([{ result: 'works' }, { result: 'works' }]);
    expect(await starts()).toHaveLength(1);
  });
});
