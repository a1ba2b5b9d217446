import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { SettingsError } from '@gantry/daemon/settings';

/** Parameters of a URL that libpq also reads from the environment. */
const PARAMETERS: Record<string, string> = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
};

/** Runs pg_dump and returns its output, as its custom format. */
export async function* dumpDatabase(
  databaseUrl: string,
  { snapshot }: { snapshot: string },
): AsyncGenerator<Buffer> {
  const args = ['--format=custom', '--no-owner', '--no-acl', `--snapshot=${snapshot}`];
  const child = start('pg_dump', args, databaseUrl);
  const ended = endOf('pg_dump', child);
  yield* child.stdout;
  await ended;
}

/**
 * Restores a dump in one transaction. If the dump throws before its end, or pg_restore fails, the
 * database stays as it was.
 */
export async function restoreDatabase(
  databaseUrl: string,
  dump: AsyncIterable<Buffer>,
): Promise<void> {
  const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  const args = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-acl'];
  await feed('pg_restore', [...args, `--dbname=${name}`], { databaseUrl, dump });
}

/** Lets pg_restore read a whole dump without a database. */
export async function checkDump(dump: AsyncIterable<Buffer>): Promise<void> {
  await feed('pg_restore', ['--file=/dev/null'], { databaseUrl: undefined, dump });
}

type Feeding = { databaseUrl: string | undefined; dump: AsyncIterable<Buffer> };

async function feed(
  program: string,
  args: string[],
  { databaseUrl, dump }: Feeding,
): Promise<void> {
  const child = start(program, args, databaseUrl);
  const ended = endOf(program, child);
  // The error is thrown where it is awaited, after the dump was read or has failed.
  ended.catch(() => undefined);
  child.stdin.on('error', () => undefined);
  child.stdout.resume();
  try {
    for await (const chunk of dump) {
      if (child.exitCode !== null || child.stdin.destroyed) break;
      if (!child.stdin.write(chunk))
        await Promise.race([once(child.stdin, 'drain'), once(child, 'close')]);
    }
  } catch (error) {
    // Without an end of its input, pg_restore would commit what it has.
    child.kill('SIGKILL');
    throw error;
  }
  child.stdin.end();
  await ended;
}

/** The password is not an argument, because every user of a computer can read those. */
function start(program: string, args: string[], databaseUrl: string | undefined) {
  const env = { ...process.env, ...(databaseUrl === undefined ? {} : connection(databaseUrl)) };
  return spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
}

function connection(databaseUrl: string): Record<string, string> {
  const url = new URL(databaseUrl);
  const values = {
    PGHOST: url.hostname,
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    ...Object.fromEntries(
      Object.entries(PARAMETERS).map(([name, variable]) => [
        variable,
        url.searchParams.get(name) ?? '',
      ]),
    ),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

async function endOf(program: string, child: ChildProcess): Promise<void> {
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).catch((cause) => {
    throw new SettingsError(
      `${program} cannot be run. Install PostgreSQL's client programs, of the server's version or newer`,
      { cause },
    );
  });
  if (code !== 0) throw new SettingsError(`${program} failed: ${output.trim()}`);
}
