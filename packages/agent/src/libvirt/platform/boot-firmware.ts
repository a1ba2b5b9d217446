import { spawn } from 'node:child_process';
import type { Platform } from '../domain-xml/domain-definition.ts';

/** What the emulator did until the time limit. */
export type FirmwareBoot =
  | { result: 'works'; durationMs: number }
  /** Neither output nor an error within the limit. */
  | { result: 'hangs'; durationMs: number }
  /** `error` is what the emulator printed, on one line. */
  | { result: 'fails'; durationMs: number; error: string };

type Boot = { platform: Platform; limitMs: number };

/**
 * The first output of the firmware's console driver. The banner that arm64 firmware prints before
 * it turns on paging does not match.
 */
export const CONSOLE_OUTPUT = ['\x1b[', 'BdsDxe'];
/** QEMU keeps running after these, with the vCPU stopped for good. */
const VCPU_ERROR = /KVM internal error|kvm run failed|KVM: entry failed|KVM_SET_\w+ failed/;
/** A process that does not die within this time is stuck in the kernel. */
const REAP_LIMIT_MS = 5_000;
const MEMORY_MIB = 256;
const LONGEST_ERROR = 300;

/**
 * Boots the UEFI firmware of VMs, without any disk, and waits for its console on the serial port.
 *
 * The firmware is the payload because it is installed with every QEMU host and because it needs
 * what a guest kernel needs: before its console driver prints, the vCPU has left real mode, runs
 * 64-bit code with paging and floating point, takes timer interrupts, and has read and written the
 * flash and the PCI bus. A BIOS is no proof: it prints from real mode, and a KVM module that runs
 * paravirtual guests only can emulate that instruction by instruction. Under such a module the
 * UEFI firmware stops at its first FPU instruction ("KVM internal error ... emulation failure").
 *
 * The emulator runs without network, disks and user configuration, and writes to no file of the
 * host except a temporary overlay of the variable store. It dies with this process
 * (`--pdeathsig`), and it is killed and reaped before this function returns.
 */
export async function bootFirmware({ platform, limitMs }: Boot): Promise<FirmwareBoot> {
  const startedMs = performance.now();
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', platform.emulator, ...args(platform)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  let output = '';
  let errors = '';
  const seen = new Promise<'output' | 'error' | 'limit'>((resolve) => {
    const timer = setTimeout(() => resolve('limit'), limitMs);
    const settle = (what: 'output' | 'error') => {
      clearTimeout(timer);
      resolve(what);
    };
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      output += text;
      if (CONSOLE_OUTPUT.some((mark) => output.includes(mark))) settle('output');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
      if (VCPU_ERROR.test(errors)) settle('error');
    });
    child.once('error', (error) => {
      errors += error.message;
      settle('error');
    });
    child.once('close', () => settle('error'));
  });
  const closed = new Promise<string>((resolve) => {
    child.once('error', () => resolve(''));
    child.once('close', (code, signal) => resolve(signal ?? `status ${code}`));
  });

  const what = await seen;
  const durationMs = Math.round(performance.now() - startedMs);
  child.kill('SIGKILL');
  const ending = await Promise.race([closed, later(REAP_LIMIT_MS)]);
  if (what === 'output') return { result: 'works', durationMs };
  if (what === 'limit') return { result: 'hangs', durationMs };
  const error = firstLines(errors) || `the emulator ended with ${ending} and printed nothing`;
  return { result: 'fails', durationMs, error };
}

function args({ machine, gic, accel, cpu, firmware }: Platform): string[] {
  const flash = 'if=pflash,format=raw';
  return [
    ...['-name', 'gantry-kvm-probe', '-no-user-config', '-nodefaults', '-display', 'none'],
    ...['-machine', machine === 'virt' ? `virt,gic-version=${gic}` : machine],
    ...['-accel', accel, '-cpu', CPU_NAMES[cpu] ?? cpu, '-smp', '1', '-m', String(MEMORY_MIB)],
    ...['-drive', `${flash},unit=0,readonly=on,file=${firmware.loader}`],
    ...['-drive', `${flash},unit=1,snapshot=on,file=${firmware.nvramTemplate}`],
    // A vCPU that resets the machine ends the emulator instead of trying for ever.
    ...['-serial', 'stdio', '-monitor', 'none', '-no-reboot'],
  ];
}

/** libvirt's names and QEMU's. */
const CPU_NAMES: Partial<Record<string, string>> = { 'host-passthrough': 'host', maximum: 'max' };

/** Without warnings, and without the registers that QEMU prints after the cause. */
function firstLines(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/warning:|^extra data|^\w+ ?=/.test(line));
  return lines.slice(0, 2).join('; ').slice(0, LONGEST_ERROR);
}

function later(delayMs: number): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('no exit status'), delayMs).unref();
  });
}
