import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';

/** Returns the path or, if it does not exist yet, the nearest existing directory above it. */
export async function nearestDirectory(path: string): Promise<string> {
  if (dirname(path) === path || (await unlessMissing(stat(path)))) return path;
  return await nearestDirectory(dirname(path));
}
