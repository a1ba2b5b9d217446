import { parseDiskSizeGib } from '@gantry/model/disk-size';

export function sizeGib(size: string): number {
  const gib = parseDiskSizeGib(size);
  if (gib === undefined) throw new Error(`BUG: the schema accepted the disk size ${size}`);
  return gib;
}
