import { execFile } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { replaceFile } from '@gantry/daemon/durable-file';
import type { Platform } from '../domain-xml/domain-definition.ts';
import { bootFirmware } from './boot-firmware.ts';

/** Whether this host can run guests with KVM. */
export type KvmProbe = {
  result: 'works' | 'hangs' | 'fails' | 'no_file' | 'no_permission';
  /** What was seen, as a clause: "the firmware printed nothing within 30 s". */
  detail: string;
  durationMs: number;
  /** The result was read from the file of an earlier probe. */
  remembered: boolean;
};

export type ProbeOptions = {
  /** As a domain with KVM has it. */
  platform: Platform;
  /** Holds the file that remembers the result. */
  directory: string;
  limitMs: number;
  /** Probes even if a result is remembered, and remembers the new one. */
  fresh?: boolean;
  kvmDevice?: string;
  bootIdFile?: string;
};

const KVM_DEVICE = '/dev/kvm';
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
export const PROBE_FILE = 'kvm-probe.json';
const VERSION_LIMIT_MS = 10_000;

/** Probes that run in this process, by the file that will remember them. */
const inFlight = new Map<string, Promise<KvmProbe>>();

/**
 * Determines whether KVM runs a guest, not only whether `/dev/kvm` can be opened.
 *
 * A result is remembered until the host boots again or QEMU or the firmware is replaced. That
 * includes failures: an agent that systemd restarts every second must not start an emulator every
 * second. A device that does not exist or cannot be opened is not remembered, because checking it
 * again costs nothing. Concurrent calls in one process share one probe.
 */
export function probeKvm(options: ProbeOptions): Promise<KvmProbe> {
  const file = join(options.directory, PROBE_FILE);
  const running = inFlight.get(file);
  if (running) return running;
  const probe = probeOnce(options, file).finally(() => inFlight.delete(file));
  inFlight.set(file, probe);
  return probe;
}

async function probeOnce(options: ProbeOptions, file: string): Promise<KvmProbe> {
  const { platform, limitMs, fresh = false, kvmDevice = KVM_DEVICE } = options;
  const unusable = await openDevice(kvmDevice);
  if (unusable) return unusable;
  const subject = await describeSubject(platform, options.bootIdFile ?? BOOT_ID_FILE);
  const known = fresh ? undefined : await recall(file, subject);
  if (known) return { ...known, remembered: true };
  const boot = await bootFirmware({ platform, limitMs });
  const probe = {
    result: boot.result,
    detail: describeBoot(boot, limitMs),
    durationMs: boot.durationMs,
  };
  // A result that cannot be stored is determined again at the next start.
  await replaceFile(file, `${JSON.stringify({ subject, ...probe }, null, 2)}\n`, 0o600).catch(
    () => undefined,
  );
  return { ...probe, remembered: false };
}

/** Undefined if the device can be opened. `access` does not see what a device cgroup denies. */
async function openDevice(kvmDevice: string): Promise<KvmProbe | undefined> {
  const failure = (result: KvmProbe['result'], detail: string): KvmProbe => {
    return { result, detail, durationMs: 0, remembered: false };
  };
  try {
    await (await open(kvmDevice, 'r+')).close();
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT') return failure('no_file', `${kvmDevice} does not exist`);
    if (code === 'EACCES' || code === 'EPERM') {
      return failure('no_permission', `${kvmDevice} cannot be opened: permission denied`);
    }
    return failure('fails', `${kvmDevice} cannot be opened: ${messageOf(error)}`);
  }
}

/** Everything that a result depends on. */
async function describeSubject({ emulator, firmware }: Platform, bootIdFile: string) {
  const { size, mtimeMs } = await stat(firmware.loader);
  return {
    bootId: (await readFile(bootIdFile, 'utf8')).trim(),
    emulator: `${emulator}: ${await readVersion(emulator)}`,
    firmware: `${firmware.loader}: ${size} bytes, ${new Date(mtimeMs).toISOString()}`,
  };
}

/** An emulator that does not print its version fails when it is started, with its error. */
async function readVersion(emulator: string): Promise<string> {
  const options = { timeout: VERSION_LIMIT_MS, killSignal: 'SIGKILL' } as const;
  try {
    const { stdout } = await promisify(execFile)(emulator, ['--version'], options);
    return stdout.split('\n')[0] ?? '';
  } catch (error) {
    return messageOf(error);
  }
}

async function recall(file: string, subject: object) {
  try {
    const stored = JSON.parse(await readFile(file, 'utf8'));
    if (JSON.stringify(stored.subject) !== JSON.stringify(subject)) return undefined;
    const { result, detail, durationMs } = stored;
    const isWhole = ['works', 'hangs', 'fails'].includes(result) && typeof detail === 'string';
    return isWhole ? { result, detail, durationMs: Number(durationMs) } : undefined;
  } catch {
    return undefined;
  }
}

function describeBoot(boot: Awaited<ReturnType<typeof bootFirmware>>, limitMs: number): string {
  switch (boot.result) {
    case 'works':
      return 'the firmware of a test VM printed to its console';
    case 'hangs':
      return `the firmware of a test VM printed nothing within ${limitMs / 1_000} s`;
    case 'fails':
      return `a test VM did not run: ${boot.error}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
