import { join } from 'node:path';
import { remembered } from '../../../base/remembered.ts';
import { programRunner, type RunProgram } from '../../../base/run-program.ts';

/** Values of a drive's SMART log, by their names on the wire; Device in the proto explains them. */
export type DriveHealth = {
  critical_warning: number;
  percentage_used: number;
  available_spare: number;
  spare_threshold: number;
  media_errors: number;
};

/** Takes the name of a controller: nvme0. */
export type DriveHealthReader = (controller: string) => Promise<DriveHealth | undefined>;

/** Wear changes over years, and each reading starts a program and wakes the drive. */
const LOOK_AGAIN_MS = 600_000;
/** A healthy drive replies within milliseconds. */
const LIMIT_MS = 10_000;

/**
 * Reads the health of drives with nvme-cli, each at most every ten minutes. Returns undefined if
 * nvme-cli is not installed or the drive did not reply. It is not started again for a drive while
 * it still runs.
 */
export function driveHealthReader({
  run = programRunner('host_failed'),
  devRoot = '/dev',
  nowMs = Date.now,
}: {
  run?: RunProgram;
  devRoot?: string;
  nowMs?: () => number;
} = {}): DriveHealthReader {
  return remembered({ forMs: LOOK_AGAIN_MS, limitMs: LIMIT_MS, nowMs }, async (controller) => {
    const args = ['smart-log', '-o', 'json', join(devRoot, controller)];
    return parseSmartLog(await run('nvme', args, { timeoutMs: LIMIT_MS }));
  });
}

/** Versions of nvme-cli differ in names, and in what they write as number, text or object. */
export function parseSmartLog(text: string): DriveHealth | undefined {
  const log = parseObject(text);
  if (!log) return;
  const count = (...names: string[]) => names.map((name) => parseCount(log[name])).find(isNumber);
  const criticalWarning = count('critical_warning');
  const percentageUsed = count('percent_used', 'percentage_used');
  if (criticalWarning === undefined || percentageUsed === undefined) return;
  return {
    critical_warning: criticalWarning,
    percentage_used: percentageUsed,
    available_spare: count('avail_spare', 'available_spare') ?? 0,
    spare_threshold: count('spare_thresh', 'available_spare_threshold') ?? 0,
    media_errors: count('media_errors') ?? 0,
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // Some versions print a warning or nothing.
    return;
  }
}

function parseCount(value: unknown): number | undefined {
  if (isRecord(value)) return parseCount(value['value']);
  const digits = typeof value === 'string' ? value.replaceAll(',', '') : value;
  const number = typeof digits === 'string' && digits.trim() !== '' ? Number(digits) : digits;
  return isNumber(number) && Number.isFinite(number) && number >= 0
    ? Math.floor(number)
    : undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
