import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '@gantry/local/testing/scratch';

const SOURCE = fileURLToPath(new URL('mortal-agent.ts', import.meta.url));
const SERVICES = '../../../agent/src/network/guest-services';
const SOCKETS = fileURLToPath(new URL(`${SERVICES}/open-sockets-there.mjs`, import.meta.url));

/** The mortal agent as one file of plain JavaScript: it has many lives, and each begins at once. */
export async function makeMortalProgram(): Promise<{ file: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-mortal-agent-'));
  const file = path.join(directory, 'mortal-agent.mjs');
  await bundle(SOURCE, file);
  // Started as a program of its own, and looked for beside whoever starts it.
  await copyFile(SOCKETS, path.join(directory, path.basename(SOCKETS)));
  return { file, remove: () => rm(directory, { recursive: true, force: true }) };
}
