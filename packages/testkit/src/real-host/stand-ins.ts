import { join } from 'node:path';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { writeServerTree } from '@gantry/simulator/servers/server-tree';

/** Writes the /sys of a server with eight A40s and its drives. Returns its directory. */
export async function writeStandIns(directory: string): Promise<string> {
  const model = SERVER_MODELS.find(({ name }) => name === 'a40-8');
  if (!model) throw new Error('BUG: there is no server model a40-8');
  const root = join(directory, 'sys');
  await writeServerTree(root, model);
  return root;
}
