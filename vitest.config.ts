import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const everywhere = ['packages/**', 'proto/**', 'test/**'];
const named = (suffix: string) => everywhere.map((folder) => `${folder}/*${suffix}`);
/** How long a test waits for a condition on a busy machine. Tests never wait for time to pass. */
const patience = { poll: { timeout: 60_000 } };
/**
 * Loading every module again for each file would take more time than most tests. Modules must not keep state that
 * another test file could see, except counters that only grow.
 */
const sharedModules = { isolate: false };
const skipped = ['**/node_modules/**', '**/dist/**'];

/** A suite for one server version. Its files run in parallel, each with its own database. */
const postgres = (version: 15 | 18) => ({
  test: {
    name: `pg${version}`,
    include: named('.pg.test.ts'),
    exclude: skipped,
    globalSetup: [`packages/testkit/src/database/global-postgres-${version}.ts`],
    expect: patience,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // On two cores a third worker computes while the tests of the other two wait for a condition.
    maxWorkers: 3,
    ...sharedModules,
    // One server at a time.
    sequence: { groupOrder: version },
  },
});

/** An emulated GPU server with guests in it: slow, and one at a time. */
const lab = (name: string, include: string[]) => ({
  test: {
    name,
    include,
    exclude: skipped,
    expect: { poll: { timeout: 1_200_000 } },
    testTimeout: 2_400_000,
    hookTimeout: 2_400_000,
    fileParallelism: false,
    sequence: { groupOrder: 102 },
  },
});

/** What every run of `npm test` installs. The long tests do the same and more. */
const SHORT_INSTALL = 'test/install/short.install.test.ts';

/** Machines that are booted to install packages on them: one at a time. */
const install = (name: string, include: string[], exclude: string[] = []) => ({
  test: {
    name,
    include,
    exclude: [...skipped, ...exclude],
    expect: { poll: { timeout: 120_000, interval: 200 } },
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
    sequence: { groupOrder: 105 },
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
            ...named('.browser.test.ts'),
            ...named('.libvirt.test.ts'),
            ...named('.quotas.test.ts'),
            ...named('.ceph.test.ts'),
            ...named('.lab.test.ts'),
            ...named('.install.test.ts'),
            ...named('.system.test.ts'),
            ...named('.faults.test.ts'),
            ...named('.versions.test.ts'),
          ],
          expect: patience,
          // The default of 5 s is too short on a machine that is busy with other work.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // On two cores it would be one.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          ...sharedModules,
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
          // They wait more than they compute, and each has its own homes and ports.
          maxWorkers: 3,
          sequence: { groupOrder: 100 },
        },
      },
      {
        test: {
          name: 'browser',
          include: named('.browser.test.ts'),
          exclude: skipped,
          expect: patience,
          testTimeout: 240_000,
          hookTimeout: 240_000,
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
          // They mostly wait for guests and limits, and each has its own namespaces.
          maxWorkers: 4,
          sequence: { groupOrder: 101 },
        },
      },
      {
        // Each file has a storage cluster of its own.
        test: {
          name: 'ceph',
          include: named('.ceph.test.ts'),
          globalSetup: ['packages/testkit/src/database/global-postgres-18.ts'],
          exclude: skipped,
          // Some boot emulated guests, as the libvirt suite does.
          expect: { poll: { timeout: 300_000 } },
          testTimeout: 900_000,
          hookTimeout: 900_000,
          maxWorkers: 2,
          sequence: { groupOrder: 100 },
        },
      },
      {
        // Not part of `npm test`: some limits are those of the product, and a busy machine exceeds them.
        test: {
          name: 'faults',
          include: named('.faults.test.ts'),
          exclude: skipped,
          globalSetup: ['packages/testkit/src/database/global-postgres-18.ts'],
          expect: patience,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 103 },
        },
      },
      {
        // Run by `npm run bench:storage`. It measures, so it runs alone.
        test: {
          name: 'bench',
          include: named('.bench.ts'),
          exclude: skipped,
          expect: { poll: { timeout: 300_000 } },
          testTimeout: 1_200_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          sequence: { groupOrder: 106 },
        },
      },
      {
        // Run by `npm run test:versions`, which builds the other version.
        test: {
          name: 'versions',
          include: named('.versions.test.ts'),
          exclude: skipped,
          expect: patience,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 104 },
        },
      },
      install('install-all', named('.install.test.ts'), [SHORT_INSTALL]),
      install('install', [SHORT_INSTALL, 'test/install/units.install.test.ts']),
      {
        // Run by the suite lab-short in a machine whose kernel has project quotas; not all kernels have them.
        test: {
          name: 'quotas',
          include: named('.quotas.test.ts'),
          exclude: skipped,
          expect: patience,
          testTimeout: 900_000,
          hookTimeout: 900_000,
          fileParallelism: false,
          sequence: { groupOrder: 107 },
        },
      },
      lab('lab', named('.lab.test.ts')),
      lab('lab-short', ['test/lab/short.lab.test.ts']),
    ],
  },
});
