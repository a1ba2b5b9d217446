import type { RunProgram } from '../../../base/run-program.ts';
import type { BoundDrive } from './bound-drive.ts';
import { eraseLimitMs } from './erase-drive.ts';

/**
 * What a tenant can change on a drive and erasing does not undo, by name: the format of each namespace,
 * the namespaces, features that the drive saves, and the active firmware slot. A value that the drive or
 * nvme-cli does not report is absent.
 */
export type DriveSetup = Readonly<Record<string, string>>;

type Drive = Pick<BoundDrive, 'controller' | 'namespaces'>;

/** Features that outlive a power cycle if they are saved, without those that the kernel sets itself. */
const FEATURES: Readonly<Record<string, string>> = {
  '0x02': 'power management',
  '0x04': 'temperature threshold',
  '0x06': 'write cache',
  '0x0a': 'write atomicity',
  '0x10': 'thermal management',
};
/** A healthy drive replies within milliseconds. */
const READ_TIMEOUT_MS = 10_000;
const MINUTE_MS = 60_000;
/** The low bits of the active firmware info. */
const ACTIVE_SLOT = 0x7;

export async function readSetup(run: RunProgram, drive: Drive): Promise<DriveSetup> {
  const setup: Record<string, string> = {};
  const note = (name: string, value: string | undefined) => {
    if (value !== undefined) setup[name] = value;
  };
  // A command that the drive does not support fails, before and after a VM.
  const read = (args: readonly string[]) =>
    run('nvme', args, { timeoutMs: READ_TIMEOUT_MS }).catch(() => '');
  for (const [index, { path }] of drive.namespaces.entries()) {
    note(formatOf(index), parseFormat(await read(['id-ns', path, '-o', 'json'])));
  }
  const { controller } = drive;
  note('namespaces', parseNamespaces(await read(['list-ns', controller, '--all', '-o', 'json'])));
  for (const [id, name] of Object.entries(FEATURES)) {
    note(name, parseFeature(await read(['get-feature', controller, `--feature-id=${id}`])));
  }
  note('firmware slot', parseSlot(await read(['fw-log', controller, '-o', 'json'])));
  return setup;
}

/**
 * Restores formats and features that differ. The rest cannot be restored and still differs afterwards.
 * A namespace that gets another format loses its data. A restore that fails shows in the next reading.
 */
export async function restoreSetup(
  run: RunProgram,
  drive: Drive,
  { before, now }: { before: DriveSetup; now: DriveSetup },
): Promise<void> {
  const differs = (name: string) => before[name] !== undefined && before[name] !== now[name];
  for (const [index, { path, sizeBytes }] of drive.namespaces.entries()) {
    if (!differs(formatOf(index))) continue;
    const [lbaf, , protection] = (before[formatOf(index)] ?? '').split(' ');
    const timeoutMs = eraseLimitMs('format', sizeBytes);
    const options = [`--lbaf=${lbaf}`, `--pi=${protection}`, '--ses=1', '--force'];
    const args = ['format', path, ...options, '--timeout', String(timeoutMs)];
    await run('nvme', args, { timeoutMs: timeoutMs + MINUTE_MS }).catch(() => '');
  }
  for (const [id, name] of Object.entries(FEATURES)) {
    if (!differs(name)) continue;
    const args = ['set-feature', drive.controller, `--feature-id=${id}`, `--value=${before[name]}`];
    // A feature that the drive cannot save was not saved by the tenant either.
    await run('nvme', [...args, '--save']).catch(() => run('nvme', args).catch(() => ''));
  }
}

/** Returns what differs from before, or null. */
export function setupChange(before: DriveSetup, now: DriveSetup): string | null {
  const changed = Object.keys(before).filter((name) => before[name] !== now[name]);
  const describe = (name: string) => `${name} was ${before[name]} and is ${now[name] ?? 'unknown'}`;
  return changed.length === 0 ? null : changed.map((name) => `its ${describe(name)}`).join(', ');
}

/** Namespaces are counted, because the kernel may give the drive another name when it returns. */
function formatOf(index: number): string {
  return `format of namespace ${index + 1}`;
}

/** The number of the format, its block and metadata size, and its protection: "0 512+0 0". */
function parseFormat(text: string): string | undefined {
  const {
    flbas,
    dps = 0,
    lbafs = [],
  } = parse(text) as {
    flbas?: number;
    dps?: number;
    lbafs?: { ms?: number; ds?: number }[];
  };
  if (flbas === undefined) return undefined;
  // Drives with more than 16 formats have two more bits.
  const index = (flbas & 0xf) | (((flbas >> 5) & 0x3) << 4);
  const { ds = 0, ms = 0 } = lbafs[index] ?? {};
  return `${index} ${2 ** ds}+${ms} ${dps}`;
}

function parseNamespaces(text: string): string | undefined {
  const { nsid_list: list } = parse(text) as { nsid_list?: { nsid?: number }[] };
  return list?.map(({ nsid }) => nsid).join(' ');
}

/** nvme-cli writes this as text in every version: "…, Current value:0x00000001". */
function parseFeature(text: string): string | undefined {
  const [, digits] = /value:\s*(?:0x)?([0-9a-f]+)/i.exec(text) ?? [];
  return digits === undefined ? undefined : `0x${Number.parseInt(digits, 16).toString(16)}`;
}

/** Versions differ in the name: "afi", or "Active Firmware Slot (afi)". */
function parseSlot(text: string): string | undefined {
  const [, afi] = /afi\)?"\s*:\s*(\d+)/.exec(text) ?? [];
  return afi === undefined ? undefined : String(Number(afi) & ACTIVE_SLOT);
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // Some versions print a warning or nothing.
    return {};
  }
}
