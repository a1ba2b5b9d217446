import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import type { KvmProbe } from './kvm-probe.ts';

export type AcceleratorSettings = {
  /** `auto` and `kvm` need a KVM that works; `auto` may fall back if emulation is allowed. */
  accelerator: 'auto' | 'kvm' | 'tcg';
  /** Emulated guests are too slow for tenants, so a host must not fall back on its own. */
  allowEmulation: boolean;
  probeLimitMs: number;
};

/** `accel` is null if this host must not run VMs. `reason` is one sentence without a full stop. */
export type AcceleratorChoice = { accel: 'kvm' | 'tcg' | null; reason: string };

/** A UEFI firmware prints within 2 s under KVM. The rest is for a host that is under load. */
const PROBE_LIMIT_S = 30;

export function readAcceleratorSettings(
  reader: SettingsReader,
  { allowEmulation = false } = {},
): AcceleratorSettings {
  const accelerator = reader.text('GANTRY_ACCELERATOR', 'auto');
  if (accelerator !== 'auto' && accelerator !== 'kvm' && accelerator !== 'tcg') {
    throw new SettingsError(`GANTRY_ACCELERATOR must be auto, kvm or tcg, not "${accelerator}"`);
  }
  const flag = { fallback: allowEmulation ? 1 : 0, min: 0, max: 1 };
  const limit = { fallback: PROBE_LIMIT_S, min: 1, max: 600 };
  return {
    accelerator,
    allowEmulation: reader.integer('GANTRY_ALLOW_EMULATION', flag) === 1,
    probeLimitMs: reader.integer('GANTRY_KVM_PROBE_SECONDS', limit) * 1_000,
  };
}

/** Chooses KVM or emulation for all VMs of this host. `probe` is not called for `tcg`. */
export async function chooseAccelerator(
  { accelerator, allowEmulation }: Omit<AcceleratorSettings, 'probeLimitMs'>,
  probe: () => Promise<KvmProbe>,
): Promise<AcceleratorChoice> {
  if (accelerator === 'tcg') {
    return { accel: 'tcg', reason: 'GANTRY_ACCELERATOR=tcg; KVM was not probed' };
  }
  const kvm = await probe();
  const reason = describeProbe(kvm);
  if (kvm.result === 'works') return { accel: 'kvm', reason };
  if (accelerator === 'auto' && allowEmulation) return { accel: 'tcg', reason };
  return { accel: null, reason };
}

/** The result of a probe with the time it took. */
export function describeProbe({ result, detail, durationMs, remembered }: KvmProbe): string {
  const verdict = result === 'works' ? 'KVM works' : 'KVM does not work';
  if (result === 'no_file' || result === 'no_permission') return `${verdict}: ${detail}`;
  const seconds = `${(durationMs / 1_000).toFixed(1)} s`;
  const when = remembered ? `probed earlier in this boot, ${seconds}` : `probed in ${seconds}`;
  return `${verdict}: ${detail} (${when})`;
}

/** What an operator can do about a host whose choice is null. */
export const NO_ACCELERATOR_ADVICE =
  'enable VT-x or SVM (x64) or EL2 (arm64) in the firmware settings of the host, load the KVM ' +
  'module, then run gantry-agent doctor, which probes again; for emulated VMs, which are slow, ' +
  'set GANTRY_ACCELERATOR=tcg';
