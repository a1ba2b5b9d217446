import { stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

/**
 * Prints how long each test took, and the preparation before the first, and the sizes of the packages, for
 * docs/operators/install.md.
 */
export function recordSteps(title: string, built: () => readonly string[] | undefined): void {
  const lines: string[] = [];
  let beganAt = performance.now();
  const record = (name: string) => {
    const seconds = (performance.now() - beganAt) / 1_000;
    lines.push(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
  };
  beforeEach(() => {
    if (lines.length === 0) record('packages, repository, root and boot');
    beganAt = performance.now();
  });
  afterEach(({ task }) => record(task.name));
  afterAll(async () => {
    for (const file of built() ?? []) {
      const { size } = await stat(file);
      lines.push(`${(size / 1e6).toFixed(1).padStart(8)} MB ${path.basename(file)}`);
    }
    process.stdout.write(`${title}\n${lines.join('\n')}\n`);
  });
}
