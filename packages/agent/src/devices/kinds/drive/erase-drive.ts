import type { RunProgram } from '../../../base/run-program.ts';
import { untilTrue } from '../../../base/until-true.ts';
import type { CleaningOutcome } from '../../../host-driver.ts';
import type { BoundDrive } from './bound-drive.ts';
import { Canary } from './canary.ts';

/** Fields of Identify Controller that describe how it can erase its data. */
type Abilities = { format: boolean; blockErase: boolean; cryptoErase: boolean };
type Method = { name: string; run(): Promise<void> };
type Host = { run: RunProgram };

const MINUTE_MS = 60_000;
/**
 * A drive that needs longer than a fixed time and the time for its size is considered broken. Most
 * drives format within seconds at any size; the slowest rewrite themselves, at 1 GB/s or more. A
 * drive that is overwritten by the host and cannot take 200 MB/s is not fit for VMs.
 */
const LIMITS = {
  format: { fixedMs: 15 * MINUTE_MS, bytesPerMs: 1_000_000 },
  sanitize: { fixedMs: 60 * MINUTE_MS, bytesPerMs: 1_000_000 },
  overwrite: { fixedMs: 15 * MINUTE_MS, bytesPerMs: 200_000 },
};

const FORMAT_COMMAND = 0x2;
const SANITIZE_CRYPTO = 0x1;
const SANITIZE_BLOCK = 0x2;
/** The low bits of the sanitize log's status. */
const SANITIZE_STATE = 0x7;
const SANITIZE_RUNNING = 2;
const SANITIZE_FAILED = 3;
/** A sanitize takes seconds at least, and each poll starts a program. */
const SANITIZE_PAUSE_MS = 2_000;

/**
 * Erases all namespaces with the best method of the drive, and verifies that the canary is gone. If
 * the drive has no such method, its blocks are discarded and overwritten.
 */
export async function eraseDrive(host: Host, drive: BoundDrive): Promise<CleaningOutcome> {
  const refusals: string[] = [];
  for (const method of await methodsOf(host.run, drive)) {
    try {
      const canary = new Canary(host.run);
      for (const namespace of drive.namespaces) await canary.write(namespace);
      await method.run();
      for (const namespace of drive.namespaces) {
        const { foundAt } = await canary.look(namespace);
        if (foundAt.length > 0) throw new Error(`data was still there at byte ${foundAt[0]}`);
      }
      return { method: method.name, failure: null };
    } catch (error) {
      refusals.push(`${method.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const failure = { code: 'erase_failed', message: refusals.join('; ') };
  return { method: 'none', failure };
}

/** Returns how long a method may take for this many bytes. */
export function eraseLimitMs(method: keyof typeof LIMITS, sizeBytes: number): number {
  const { fixedMs, bytesPerMs } = LIMITS[method];
  return fixedMs + Math.ceil(sizeBytes / bytesPerMs);
}

async function methodsOf(run: RunProgram, drive: BoundDrive): Promise<Method[]> {
  const abilities = await readAbilities(run, drive.controller);
  const methods: Method[] = [];
  if (abilities.format) methods.push({ name: 'format_ses1', run: () => format(run, drive) });
  if (abilities.blockErase || abilities.cryptoErase) {
    // An earlier sanitize may still run, and nothing can be read or written until it ends.
    await untilSanitized(run, drive);
    const action = abilities.blockErase ? '2' : '4';
    methods.push({ name: 'sanitize', run: () => sanitize(run, drive, action) });
  }
  methods.push({ name: 'overwrite', run: () => overwrite(run, drive) });
  return methods;
}

async function readAbilities(run: RunProgram, controller: string): Promise<Abilities> {
  const text = await run('nvme', ['id-ctrl', controller, '-o', 'json']);
  const { oacs = 0, sanicap = 0 } = JSON.parse(text) as { oacs?: number; sanicap?: number };
  return {
    format: (oacs & FORMAT_COMMAND) !== 0,
    blockErase: (sanicap & SANITIZE_BLOCK) !== 0,
    cryptoErase: (sanicap & SANITIZE_CRYPTO) !== 0,
  };
}

async function format(run: RunProgram, { namespaces }: BoundDrive): Promise<void> {
  for (const { path, sizeBytes } of namespaces) {
    const limitMs = eraseLimitMs('format', sizeBytes);
    const args = ['format', path, '--ses=1', '--force', '--timeout', String(limitMs)];
    await run('nvme', args, { timeoutMs: limitMs + MINUTE_MS });
  }
}

async function sanitize(run: RunProgram, drive: BoundDrive, action: string): Promise<void> {
  await run('nvme', ['sanitize', drive.controller, `--sanact=${action}`]);
  if ((await untilSanitized(run, drive)) === SANITIZE_FAILED) {
    throw new Error('the drive says it failed');
  }
}

/** Returns the state in which the sanitize ended. */
async function untilSanitized(
  run: RunProgram,
  { controller, sizeBytes }: BoundDrive,
): Promise<number> {
  let state = SANITIZE_RUNNING;
  const isOver = async () => {
    const text = await run('nvme', ['sanitize-log', controller, '-o', 'json']);
    state = sanitizeState(JSON.parse(text));
    return state !== SANITIZE_RUNNING;
  };
  const limitMs = eraseLimitMs('sanitize', sizeBytes);
  if (await untilTrue(isOver, limitMs, SANITIZE_PAUSE_MS)) return state;
  throw new Error('it took too long');
}

/**
 * nvme-cli nests the fields below the device's name, and writes the status as a number or an
 * object.
 */
function sanitizeState(log: unknown): number {
  const status = findMember(log, 'sstat');
  const number = typeof status === 'object' ? findMember(status, 'status') : status;
  return Number(number ?? 0) & SANITIZE_STATE;
}

function findMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (key === name) return member;
    const below = findMember(member, name);
    if (below !== undefined) return below;
  }
  return undefined;
}

async function overwrite(run: RunProgram, { namespaces }: BoundDrive): Promise<void> {
  for (const { path, sizeBytes } of namespaces) {
    const timeoutMs = eraseLimitMs('overwrite', sizeBytes);
    // Frees the blocks if the drive supports it; the overwrite does not depend on it.
    await run('blkdiscard', ['--force', path], { timeoutMs }).catch(() => '');
    await run('blkdiscard', ['--force', '--zeroout', path], { timeoutMs });
  }
}
