import type { Machine } from './boot-machine.ts';

/** What belongs to Debian, to apt or to the test. */
const OTHERS = /^\/(var\/(log|cache|lib\/(apt|postgresql))|srv|etc\/apt)\//;

/** What a purge leaves: the key of the repository that the operator put there. */
export const OPERATORS_FILES = ['/etc/gantry', '/etc/gantry/apt-key.asc'];

/** The names of files of the packages. One unit has the name of what it mounts. */
const OURS = /gantry|dev-hugepages1G/;

/** The files of Gantry that are on the machine. */
export async function filesLeft(machine: Machine): Promise<string[]> {
  const files = await machine.changedFiles();
  return files.filter((file) => OURS.test(file) && !OTHERS.test(file)).sort();
}
