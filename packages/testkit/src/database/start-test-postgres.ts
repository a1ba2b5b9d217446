import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { migrate } from '@gantry/db/migrate';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { removeHome } from './remove-home.ts';

/**
 * A server for one run of a suite, with a migrated template that every test file clones. Its home
 * is named after its process. The next run removes the home of a killed process; the server itself
 * ends with its process.
 */
const HOMES = path.resolve(import.meta.dirname, '../../../../.gantry/test');
const TEMPLATE = 'gantry_template';

export async function startTestPostgres(project: TestProject, binariesDirectory?: string) {
  await mkdir(HOMES, { recursive: true });
  await removeAbandonedHomes();
  const home = path.join(HOMES, `${project.name}-${process.pid}`);
  const server = await startEmbeddedPostgres({
    home,
    durable: false,
    ...(binariesDirectory ? { binariesDirectory } : {}),
  });
  const sql = postgres(server.urlOf('postgres'), { max: 1, onnotice: () => {} });
  await sql`create database ${sql(TEMPLATE)}`;
  await sql.end();
  await migrate(server.urlOf(TEMPLATE));
  project.provide('databaseServer', server.urlOf('postgres'));
  project.provide('databaseTemplate', TEMPLATE);

  return async () => {
    // An immediate shutdown: its files are removed, so they need no last checkpoint.
    process.kill(server.pid, 'SIGQUIT');
    await server.stop();
    await removeHome(home);
  };
}

async function removeAbandonedHomes(): Promise<void> {
  for (const name of await readdir(HOMES)) {
    const pid = Number(name.split('-').at(-1));
    if (Number.isInteger(pid) && !isAlive(pid)) await removeHome(path.join(HOMES, name));
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
