import { createRequire } from 'node:module';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTestPostgres } from './test-postgres.ts';

/** The oldest server that DATABASE_URL may name. */
const files = createRequire(import.meta.url).resolve(
  `postgres-15-${process.platform}-${process.arch}/package.json`,
);

export default (project: TestProject) =>
  startTestPostgres(project, path.join(path.dirname(files), 'native'));
