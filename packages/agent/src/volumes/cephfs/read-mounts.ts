import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseMountinfo } from '../../base/mountinfo.ts';

const MOUNTS = '/proc/self/mountinfo';

/** Returns the mount points right below a directory, each once. Asks the kernel only, so no mount can block it. */
export async function readMounts(directory: string): Promise<Set<string>> {
  return parseMounts(await readFile(MOUNTS, 'utf8'), directory);
}

export function parseMounts(text: string, directory: string): Set<string> {
  const points = parseMountinfo(text).map(({ mountPoint }) => mountPoint);
  return new Set(points.filter((point) => dirname(point) === directory));
}
