const SIZE = /^([1-9][0-9]{0,6})(GiB|TiB)$/;

export const DISK_SIZE_LIMITS = { minGib: 1, maxGib: 10 * 1024 };
/** The size of the OS disk of every VM. */
export const OS_DISK_SIZE = '128GiB';
export const MAX_DISKS_PER_VM = 16;

/** Parses "100GiB" or "2TiB" to GiB. Returns undefined if it is not a size within the limits. */
export function parseDiskSizeGib(size: string): number | undefined {
  const match = SIZE.exec(size);
  if (!match) return undefined;
  const gib = Number(match[1]) * (match[2] === 'TiB' ? 1024 : 1);
  return gib >= DISK_SIZE_LIMITS.minGib && gib <= DISK_SIZE_LIMITS.maxGib ? gib : undefined;
}

export const OS_DISK_GIB = parseDiskSizeGib(OS_DISK_SIZE) ?? 0;
