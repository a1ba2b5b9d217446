import type { Machine } from './boot-machine.ts';

/** What belongs to Debian, to apt or to the test. */
const OTHERS = /^\/(var\/(log|cache|lib\/(apt|postgresql))|srv|etc\/apt)\//;

/** The files of Gantry that are on the machine. A purge must leave none, except keys that the operator put there. */
export async function filesLeft(machine: Machine): Promise<string[]> {
  const files = await machine.changedFiles();
  return files.filter((file) => /gantry/.test(file) && !OTHERS.test(file));
}
