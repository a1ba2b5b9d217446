import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { removeHome } from '@gantry/testkit/database/remove-home';

const HOMES = path.resolve(import.meta.dirname, '../../../.gantry/bench');

/** A directory for one run, named after its process. */
export function benchHome(name: string): string {
  return path.join(HOMES, `${name}-${process.pid}`);
}

/** Removes the directories of benchmarks whose process was killed. */
export async function removeAbandonedHomes(): Promise<void> {
  await mkdir(HOMES, { recursive: true });
  for (const name of await readdir(HOMES)) {
    const [, pid] = /-(\d+)$/.exec(name) ?? [];
    if (pid && !isAlive(Number(pid))) await removeHome(path.join(HOMES, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
