import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const MOUNTS = '/proc/self/mountinfo';
const MOUNT_POINT_FIELD = 4;

/** Returns the mount points right below a directory, each once. Asks the kernel only, so no mount can block it. */
export async function readMounts(directory: string): Promise<Set<string>> {
  return parseMounts(await readFile(MOUNTS, 'utf8'), directory);
}

export function parseMounts(text: string, directory: string): Set<string> {
  const points = text
    .split('\n')
    .map((line) => unescapePoint(line.split(' ')[MOUNT_POINT_FIELD] ?? ''));
  return new Set(points.filter((point) => dirname(point) === directory));
}

/** The kernel writes spaces and some other characters as octal numbers. */
function unescapePoint(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
