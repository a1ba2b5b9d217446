import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const everywhere = ['packages/**', 'proto/**', 'test/**'];
const named = (suffix: string) => everywhere.map((folder) => `${folder}/*${suffix}`);
/** A condition is waited for as long as a busy machine may need; tests never wait for time to pass. */
const patience = { poll: { timeout: 30_000 } };
const skipped = ['**/node_modules/**', '**/dist/**'];

/** A suite against one server version; its files run beside each other, each on a database of its own. */
const postgres = (version: 15 | 18) => ({
  test: {
    name: `pg${version}`,
    include: named('.pg.test.ts'),
    exclude: skipped,
    globalSetup: [`test/support/global-postgres-${version}.ts`],
    expect: patience,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Loading every module anew costs each file more than a second. None of them keeps anything that
    // another file could see but counters that only grow: see to it that this stays so.
    isolate: false,
    // One server at a time.
    sequence: { groupOrder: version },
  },
});

/** A GPU server under emulation, with guests in it: one at a time, and nothing in it is fast. */
const lab = (name: string, include: string[]) => ({
  test: {
    name,
    include,
    exclude: skipped,
    expect: { poll: { timeout: 300_000 } },
    testTimeout: 600_000,
    hookTimeout: 900_000,
    fileParallelism: false,
    sequence: { groupOrder: 102 },
  },
});

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: named('.test.ts'),
          exclude: [
            ...skipped,
            ...named('.pg.test.ts'),
            ...named('.libvirt.test.ts'),
            ...named('.lab.test.ts'),
            ...named('.system.test.ts'),
          ],
          expect: patience,
          // On two cores it would be one.
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      postgres(18),
      postgres(15),
      {
        test: {
          name: 'system',
          include: named('.system.test.ts'),
          exclude: skipped,
          expect: patience,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // They wait more than they compute; each has homes and ports of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 100 },
        },
      },
      {
        test: {
          name: 'libvirt',
          include: named('.libvirt.test.ts'),
          exclude: skipped,
          // An emulated guest on a busy machine needs minutes to boot. The limits only end what hangs.
          expect: { poll: { timeout: 300_000 } },
          testTimeout: 900_000,
          hookTimeout: 900_000,
          // Beside each other they wait for guests and limits; each has namespaces of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 101 },
        },
      },
      lab('lab', named('.lab.test.ts')),
      lab('lab-short', ['test/lab/short.lab.test.ts']),
    ],
  },
});
