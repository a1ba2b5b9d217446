import { GIB } from '@gantry/daemon/units';
import type { DiskLimits__Output } from '@gantry/proto/generated/gantry/v1/DiskLimits';

/**
 * The limits of one disk, by libvirt's names, in decimal text. A limit that is absent does not apply; libvirt leaves
 * them out in the same way, so what it shows can be compared with what is wanted.
 */
export type IoTune = Readonly<Record<string, string>>;

/** QEMU refuses larger values, and its bursts are up to ten times as large. */
const MOST_IOPS = 10_000_000;
const MOST_BYTES_PER_SECOND = 1_000_000_000_000;

/** All limits that libvirt knows, in the order in which it writes them. */
const LIMITS = [
  'total_bytes',
  'read_bytes',
  'write_bytes',
  'total_iops',
  'read_iops',
  'write_iops',
];
export const TUNE_NAMES: readonly string[] = ['', '_max', '_max_length'].flatMap((suffix) =>
  LIMITS.map((limit) => `${limit}_sec${suffix}`),
);

/** Returns the limits of a disk from those of its kind. */
export function tuneOf(limits: DiskLimits__Output | undefined, sizeBytes: string): IoTune {
  if (!limits) return {};
  const gib = Math.floor(Number(sizeBytes) / GIB);
  const iops = (limit: string) => Math.min(MOST_IOPS, Number(limit));
  const bytes = (limit: string) => Math.min(MOST_BYTES_PER_SECOND, Number(limit));
  const grown = (limit: string, perGib: string) => String(Number(limit) + Number(perGib) * gib);
  const perSecond: Record<string, number> = {
    total_bytes: bytes(grown(limits.totalBytesPerSecond, limits.bytesPerSecondPerGib)),
    read_bytes: bytes(limits.readBytesPerSecond),
    write_bytes: bytes(limits.writeBytesPerSecond),
    total_iops: iops(grown(limits.totalIops, limits.iopsPerGib)),
    read_iops: iops(limits.readIops),
    write_iops: iops(limits.writeIops),
  };
  const tune: Record<string, string> = {};
  for (const limit of LIMITS) {
    const value = perSecond[limit] ?? 0;
    if (value === 0) continue;
    tune[`${limit}_sec`] = String(value);
    const burst = Math.floor((value * limits.burstPercent) / 100);
    if (burst <= value) continue;
    tune[`${limit}_sec_max`] = String(burst);
    tune[`${limit}_sec_max_length`] = String(Math.max(1, limits.burstSeconds));
  }
  return tune;
}

/** Returns whether both are the same limits. Absent: none. */
export function isSameTune(a: IoTune = {}, b: IoTune = {}): boolean {
  return TUNE_NAMES.every((name) => a[name] === b[name]);
}
