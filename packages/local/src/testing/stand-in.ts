import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../home/credentials.ts';
import { bundle, until } from './scratch.ts';

/**
 * A checkout with the real launcher and small stand-ins for the processes that it starts. They keep
 * the contract with the launcher (messages, signals, environment) and do nothing else. Access keys
 * are rows of a table, as in the real api, so that another database has other keys.
 */
const SQL = `
import postgres from 'postgres';
const sql = postgres(process.env.DATABASE_URL, { max: 1, onnotice() {} });
if (!process.env.GANTRY_SECRET_KEY) throw new Error('no GANTRY_SECRET_KEY');
await sql\`create table if not exists keys (key text primary key)\`;
`;

const BOOTSTRAP = `${SQL}
import { text } from 'node:stream/consumers';
const wish = JSON.parse(await text(process.stdin));
if (!wish.operator_password || wish.project !== 'default') throw new Error('bad request');
const access_key = 'key-' + crypto.randomUUID();
await sql\`insert into keys values (\${access_key})\`;
await sql.end();
console.log(JSON.stringify({ project_id: crypto.randomUUID(), access_key }));
`;

const LIFE = `
const leave = () => process.env.STAND_IN_HANGS || process.exit(0);
process.on('SIGTERM', leave);
process.on('disconnect', leave);
console.log(JSON.stringify({ pid: process.pid }));
`;

const API = `${SQL}${LIFE}
import { createServer } from 'node:http';
const server = createServer(async (request, response) => {
  const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
  const [row] = await sql\`select 1 from keys where key = \${key}\`;
  response.writeHead(row ? 200 : 401).end('{"items":[{"available":true}]}');
});
server.listen(Number(process.env.GANTRY_PORT), process.env.GANTRY_HOST, () =>
  process.send({ ready: { port: server.address().port } }));
`;

const SCHEDULER = `${LIFE}
if (process.env.STAND_IN_BREAKS) throw new Error('this scheduler is broken');
process.send({ ready: { fleet_port: 1 } });
`;

const FLEET = `${LIFE}
if (process.env.DATABASE_URL || process.env.GANTRY_SECRET_KEY) throw new Error('not for hosts');
if (!process.env.GANTRY_OPERATOR_PASSWORD) throw new Error('no operator');
if (process.env.GANTRY_SCHEDULERS !== 'localhost:1') throw new Error('no scheduler');
console.log(JSON.stringify({ hosts: process.env.GANTRY_FLEET_HOSTS }));
process.send({ ready: { hosts: 1 } });
`;

export async function makeCheckout(directory: string): Promise<string> {
  const local = path.join(directory, 'packages/local');
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
  for (const name of ['local', 'api', 'scheduler', 'simulator']) {
    await mkdir(path.join(directory, 'packages', name, 'dist'), { recursive: true });
    await symlink(modules, path.join(directory, 'packages', name, 'node_modules'));
  }
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  await bundle(main, path.join(local, 'dist/main.mjs'));
  const put = (file: string, text: string) =>
    writeFile(path.join(directory, 'packages', file), text);
  await put('api/dist/bootstrap.mjs', BOOTSTRAP);
  await put('api/dist/main.mjs', API);
  await put('scheduler/dist/main.mjs', SCHEDULER);
  await put('simulator/dist/main.mjs', FLEET);
  return directory;
}

export type Launched = {
  child: ChildProcess;
  output(): string;
  /** Waits until the text appears on the terminal. */
  says(text: string): Promise<void>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
};

export function runLauncher(checkout: string, environment: NodeJS.ProcessEnv): Launched {
  const { DATABASE_URL: _, ...inherited } = process.env as Record<string, string | undefined>;
  const child = spawn(process.execPath, [path.join(checkout, 'packages/local/dist/main.mjs')], {
    cwd: '/',
    env: { ...inherited, GANTRY_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return {
    child,
    output: () => output,
    says: (text) => until(async () => output.includes(text)),
    ended: new Promise((resolve) => {
      child.once('close', (code) => resolve(code));
    }),
  };
}

export async function readConnectionFile(home: string): Promise<Connection> {
  return JSON.parse(await readFile(path.join(home, 'connection.json'), 'utf8')) as Connection;
}

/** The process ids that a stand-in has written to its log, the newest last. */
export async function pidsIn(logFile: string): Promise<number[]> {
  const lines = (await readFile(logFile, 'utf8')).trim().split('\n');
  return lines.flatMap((line) => (line.startsWith('{"pid"') ? [JSON.parse(line).pid] : []));
}
