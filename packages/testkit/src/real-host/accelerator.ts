import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import {
  chooseAccelerator,
  readAcceleratorSettings,
} from '@gantry/agent/libvirt/choose-accelerator';
import { probeKvm } from '@gantry/agent/libvirt/kvm-probe';
import { detectPlatform } from '@gantry/agent/libvirt/platform';
import { createSettingsReader } from '@gantry/daemon/settings';
import { tinyGuestDirectory } from './guest/tiny-guest-directory.ts';

/**
 * The environment of agents in tests: KVM if it works on this machine, otherwise emulation. Each
 * test has a data directory of its own, so a failed probe is remembered here for all of them.
 */
export async function acceleratorEnvironment(): Promise<Record<string, string>> {
  const settings = readAcceleratorSettings(createSettingsReader(process.env), {
    allowEmulation: true,
  });
  const detection = await detectPlatform();
  if (!detection.found) throw new Error(`missing: ${JSON.stringify(detection.missing)}`);
  const directory = path.dirname(tinyGuestDirectory);
  await mkdir(directory, { recursive: true });
  const { accel, reason } = await chooseAccelerator(settings, () =>
    probeKvm({ platform: detection.platforms.kvm, directory, limitMs: settings.probeLimitMs }),
  );
  if (accel === null) throw new Error(reason);
  return { GANTRY_ACCELERATOR: accel };
}
