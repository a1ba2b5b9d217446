import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { StartError } from '../base/start-error.ts';
import { type Home, readIfThere, writePrivateFile } from './home.ts';

/** What a program needs to call this control plane. It is in `connection.json` in the home. */
export type Connection = {
  base_url: string;
  project_id: string;
  access_key: string;
  operator_email: string;
  operator_password: string;
};

const FIELDS = [
  'base_url',
  'project_id',
  'access_key',
  'operator_email',
  'operator_password',
] as const satisfies (keyof Connection)[];

export function connectionFile(home: Home): string {
  return home.file('connection.json');
}

/** Returns undefined if the file is missing or damaged. The launcher then writes a new one. */
export async function readConnection(home: Home): Promise<Connection | undefined> {
  try {
    const kept = JSON.parse((await readIfThere(connectionFile(home))) ?? '') as Connection;
    return FIELDS.every((field) => typeof kept[field] === 'string' && kept[field] !== '')
      ? kept
      : undefined;
  } catch {
    return undefined;
  }
}

export async function writeConnection(home: Home, connection: Connection): Promise<void> {
  await writePrivateFile(connectionFile(home), `${JSON.stringify(connection, undefined, 2)}\n`);
}

type Bootstrap = { script: string; environment: NodeJS.ProcessEnv };

/**
 * Migrates the database and creates the first operator, organization, project and access key. A
 * second run sets the operator's password again and issues another key.
 */
export async function bootstrap({
  script,
  environment,
}: Bootstrap): Promise<Omit<Connection, 'base_url'>> {
  const operator = {
    operator_email: 'operator@gantry.local',
    operator_password: randomBytes(18).toString('base64url'),
  };
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify({ ...operator, organization: 'default', project: 'default' }));
  const [out, problems, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  const made = code === 0 ? parseBootstrap(out) : undefined;
  if (made) return { ...made, ...operator };
  const output = `${code === 0 ? '' : out}${problems}`.trim().split('\n').slice(-15).join('\n');
  throw new StartError(`The database could not be set up (exit code ${code}).\n${output}`);
}

function parseBootstrap(out: string): { project_id: string; access_key: string } | undefined {
  try {
    const { project_id, access_key } = JSON.parse(out.trim().split('\n').at(-1) ?? '');
    if (typeof project_id !== 'string' || typeof access_key !== 'string') return undefined;
    return { project_id, access_key };
  } catch {
    return undefined;
  }
}

/** Returns whether the API accepts the key. It does not if the database is another one now. */
export async function isAccepted(baseUrl: string, accessKey: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/v0.1`, {
    headers: { authorization: `Bearer ${accessKey}` },
    // The API is ready, and the request needs one query.
    signal: AbortSignal.timeout(15_000),
  });
  await response.body?.cancel();
  if (response.ok) return true;
  if (response.status === 401) return false;
  throw new StartError(`The API replied to GET /v0.1 with status ${response.status}.`);
}
