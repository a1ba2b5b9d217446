import postgres from 'postgres';
import { errorCode } from '../base/start-error.ts';

/** The server does not accept connections: 57P03 means that it is starting up or shutting down. */
export type LoginReply = 'welcome' | 'refused' | 'not now';

/** Wrong password, unknown role, or no permission to log in. */
const REFUSALS = ['28P01', '28000'];

export async function login(url: string): Promise<LoginReply> {
  const sql = connect(url);
  try {
    await sql`select 1`;
    return 'welcome';
  } catch (error) {
    return REFUSALS.includes(errorCode(error) ?? '') ? 'refused' : 'not now';
  } finally {
    await sql.end({ timeout: 1 });
  }
}

export async function ensureDatabase(maintenanceUrl: string, name: string): Promise<void> {
  const sql = connect(maintenanceUrl);
  try {
    const [row] = await sql`select 1 from pg_database where datname = ${name}`;
    if (!row) await sql`create database ${sql(name)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function connect(url: string) {
  // The server runs on this machine, so a reply that takes longer will not come.
  return postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
}
