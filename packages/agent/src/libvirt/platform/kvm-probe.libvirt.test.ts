import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootFirmware } from './boot-firmware.ts';
import { probeKvm } from './kvm-probe.ts';
import { detectPlatform } from './platform.ts';

/** Emulated firmware needs 4 s of a CPU that may be shared with much other work. */
const LIMIT_MS = 200_000;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-kvm-probe-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function platforms() {
  const detection = await detectPlatform();
  if (!detection.found) throw new Error(`missing: ${JSON.stringify(detection.missing)}`);
  return detection.platforms;
}

describe('the firmware of VMs', () => {
  it('prints to its console under emulation, so that its silence under KVM has a meaning', async () => {
    const { tcg } = await platforms();
    expect(await bootFirmware({ platform: tcg, limitMs: LIMIT_MS })).toMatchObject({
      result: 'works',
    });
  });

  it('hangs if it does not get the time to print', async () => {
    const { tcg } = await platforms();
    expect(await bootFirmware({ platform: tcg, limitMs: 1 })).toMatchObject({ result: 'hangs' });
  });

  it("fails with QEMU's error on a machine that QEMU does not build", async () => {
    const { tcg } = await platforms();
    const boot = bootFirmware({ platform: { ...tcg, cpu: 'no-such-cpu' }, limitMs: LIMIT_MS });
    expect(await boot).toMatchObject({
      result: 'fails',
      error: expect.stringContaining('no-such-cpu'),
    });
  });
});

it("the probe of this machine's KVM has a result, and remembers it", async () => {
  const { kvm } = await platforms();
  const probe = () => probeKvm({ platform: kvm, directory, limitMs: 30_000 });
  const first = await probe();
  if (!existsSync('/dev/kvm')) {
    expect(first).toMatchObject({ result: 'no_file' });
    return;
  }
  expect(first.remembered).toBe(false);
  expect(first.result).not.toBe('no_file');
  expect(await probe()).toEqual({ ...first, remembered: first.result !== 'no_permission' });
});
