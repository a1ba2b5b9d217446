import type { TestProject } from 'vitest/node';
import { postgres15Binaries } from './postgres-15.ts';
import { startTestPostgres } from './start-test-postgres.ts';

export default (project: TestProject) => startTestPostgres(project, postgres15Binaries());
