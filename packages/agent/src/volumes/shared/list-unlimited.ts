import { join } from 'node:path';
import { isLimited } from './limited-directory.ts';
import { dataAt, sharedDriver } from './shared-driver.ts';

/** Returns the ids of shared volumes that can use more than their size. Leaves out those that cannot be read. */
export async function listUnlimited(directory: string): Promise<string[]> {
  const volumes = sharedDriver({ directory, isInUse: async () => true });
  const unlimited: string[] = [];
  for (const id of await volumes.list()) {
    const volume = await volumes.read(id).catch(() => null);
    if (volume === null) continue;
    const path = dataAt(join(directory, id));
    if (!(await isLimited({ path, sizeBytes: Number(volume.sizeBytes) }))) unlimited.push(id);
  }
  return unlimited.sort();
}
