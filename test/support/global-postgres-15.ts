import { createRequire } from 'node:module';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTestPostgres } from './test-postgres.ts';

/** The oldest server that DATABASE_URL may name; its package's entry lies beside the directory of files. */
const entry = createRequire(import.meta.url).resolve(
  `postgres-15-${process.platform}-${process.arch}`,
);

export default (project: TestProject) =>
  startTestPostgres(project, path.resolve(path.dirname(entry), '../native'));
