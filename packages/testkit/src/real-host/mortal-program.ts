import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '@gantry/local/testing/scratch';

const SOURCE = fileURLToPath(new URL('mortal-agent.ts', import.meta.url));
const SERVICES = '../../../agent/src/network/guest-services';
const SOCKETS = fileURLToPath(new URL(`${SERVICES}/open-sockets-there.mjs`, import.meta.url));

/**
 * The agent that kills itself, bundled as one file of JavaScript, because it is started many times.
 */
export async function makeMortalProgram(): Promise<{ file: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-mortal-agent-'));
  const file = path.join(directory, 'mortal-agent.mjs');
  await bundle(SOURCE, file);
  // It is a separate program that is found beside the program that starts it.
  await copyFile(SOCKETS, path.join(directory, path.basename(SOCKETS)));
  return { file, remove: () => rm(directory, { recursive: true, force: true }) };
}
