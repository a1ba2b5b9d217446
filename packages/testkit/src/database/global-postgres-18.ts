import type { TestProject } from 'vitest/node';
import { startTestPostgres } from './start-test-postgres.ts';

export default (project: TestProject) => startTestPostgres(project);
