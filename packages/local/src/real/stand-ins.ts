import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { writeServerTree } from '@gantry/simulator/servers/server-tree';

const MODEL = 'a40-8';

/** Writes the /sys tree of a server with eight A40s, atomically, for a machine without GPUs. */
export async function ensureStandIns(directory: string): Promise<void> {
  if (existsSync(directory)) return;
  const model = SERVER_MODELS.find(({ name }) => name === MODEL);
  if (!model) throw new Error(`BUG: there is no server model ${MODEL}`);
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await writeServerTree(unfinished, model);
  await rename(unfinished, directory);
}
