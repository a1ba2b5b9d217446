const SIZE = /^([1-9][0-9]{0,6})(GiB|TiB)$/;

export const DISK_SIZE_LIMITS = { minGib: 1, maxGib: 10 * 1024 };
/** The OS disk of every VM. */
export const OS_DISK_SIZE = '128GiB';
export const MAX_DISKS_PER_VM = 16;

/** "100GiB", "2TiB" -> GiB; undefined where it is no size or lies outside the limits. */
export function parseDiskSizeGib(size: string): number | undefined {
  const match = SIZE.exec(size);
  if (!match) return undefined;
  const gib = Number(match[1]) * (match[2] === 'TiB' ? 1024 : 1);
  return gib >= DISK_SIZE_LIMITS.minGib && gib <= DISK_SIZE_LIMITS.maxGib ? gib : undefined;
}
