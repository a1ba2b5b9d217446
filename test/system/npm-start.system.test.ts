import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '@gantry/local/embedded-postgres';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { postgres15Binaries } from '../support/postgres-15.ts';
import { type Connection, type Gantry, makeHome, processesOf, startGantry } from './gantry.ts';

const sh = promisify(execFile);
const started: { gantry?: Gantry; remove(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { gantry, remove } of started.splice(0)) {
    if (gantry?.child.exitCode === null && gantry.child.signalCode === null) await gantry.stop();
    await remove();
  }
});

async function start(env: Record<string, string> = {}) {
  const { home, remove } = await makeHome();
  const entry: (typeof started)[number] = { remove };
  started.push(entry);
  entry.gantry = await startGantry(home, env);
  return { home, gantry: entry.gantry, entry };
}

const call = async ({ base_url, access_key }: Connection, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${access_key}`, 'content-type': 'application/json' };
  const response = await fetch(`${base_url}/v0.1${path}`, { headers, ...init });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
  return { status: response.status, body: (await response.json()) as any };
};

/** The printed commands, run by a shell where there is curl, and otherwise by hand. */
async function runPrinted(output: string): Promise<unknown[]> {
  const commands = output.split('\n').filter((line) => line.trim().startsWith('curl '));
  const replies: unknown[] = [];
  for (const command of commands) {
    const { stdout } = await sh('sh', ['-c', command]);
    replies.push(JSON.parse(stdout));
  }
  return replies;
}

describe('npm start', () => {
  it('prints three curl lines that work, a login that works, and the same in connection.json', async () => {
    const { home, gantry } = await start();
    const { connection } = gantry;
    expect((await stat(path.join(home, 'connection.json'))).mode & 0o777).toBe(0o600);
    for (const value of Object.values(connection)) expect(gantry.output()).toContain(value);

    const [availabilities, creation, operations] = (await runPrinted(gantry.output())) as [
      { items: { type: string }[] },
      { operation: { operation_id: string; state: string } },
      { items: { operation_id: string }[] },
    ];
    expect(new Set(availabilities.items.map(({ type }) => type)).size).toBe(17);
    expect(creation.operation.state).toBe('IN_PROGRESS');
    expect(operations.items[0]?.operation_id).toBe(creation.operation.operation_id);

    const login = await call(connection, '/auth/token', {
      method: 'POST',
      body: JSON.stringify({
        ...{
          grant_type: 'password',
          email: connection.operator_email,
          password: connection.operator_password,
        },
      }),
    });
    expect(login.body).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    const docs = await (await fetch(`${connection.base_url}/docs`)).text();
    expect(docs).not.toMatch(/https?:\/\//);
  });

  it('loses nothing it acknowledged when everything is killed at once', async () => {
    const { home, gantry, entry } = await start();
    const { connection } = gantry;
    const acknowledged: string[] = [];
    const writing = (async () => {
      for (let i = 0; ; i += 1) {
        const body = JSON.stringify({ name: `disk-${i}`, size: '1GiB', location: 'eu-north-a' });
        const reply = await call(connection, `/projects/${connection.project_id}/disks`, {
          method: 'POST',
          body,
        });
        if (reply.status === 200) acknowledged.push(reply.body.operation.metadata.id);
        if (reply.status === 429) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })().catch(() => 'cut off');
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(50), 30_000);
    for (const pid of processesOf(home)) process.kill(pid, 'SIGKILL');
    expect(await writing).toBe('cut off');

    entry.gantry = await startGantry(home);
    const { connection: again } = entry.gantry;
    expect({ ...again, base_url: '' }).toEqual({ ...connection, base_url: '' });
    const { body } = await call(again, `/projects/${connection.project_id}/disks`);
    const kept = new Set(body.items.map(({ id }: { id: string }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });

  it('stops everything it started, cleanly, on Ctrl-C', async () => {
    const { home, gantry } = await start();
    expect(processesOf(home).length).toBeGreaterThan(3);
    expect(await gantry.stop()).toBe(0);
    expect(processesOf(home)).toEqual([]);
  });

  it('runs beside another of its kind', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one.gantry.connection.base_url).not.toBe(two.gantry.connection.base_url);
    const foreign = await call(
      { ...two.gantry.connection, base_url: one.gantry.connection.base_url },
      '',
    );
    expect(foreign.status).toBe(401);
  });
});

describe('DATABASE_URL', () => {
  it('replaces the server that comes along, with the oldest version too, and brings none of its own', async () => {
    const server = await makeHome();
    started.push(server);
    const postgres = await startEmbeddedPostgres({
      home: server.home,
      binariesDirectory: postgres15Binaries(),
    });
    try {
      const { home, gantry } = await start({ DATABASE_URL: postgres.databaseUrl });
      const { connection } = gantry;
      expect((await call(connection, `/projects/${connection.project_id}/vms`)).status).toBe(200);
      expect(existsSync(path.join(home, 'postgres'))).toBe(false);
      expect(await gantry.stop()).toBe(0);
      expect(await postgres.isRunning()).toBe(true);
    } finally {
      await postgres.stop();
    }
  });
});

describe('the organization that comes with it', () => {
  it('has a payment method, and any other starts without', async () => {
    const { gantry } = await start();
    const { connection } = gantry;
    expect((await call(connection, `/projects/${connection.project_id}/vms`)).status).toBe(200);
    const { body: login } = await call(connection, '/auth/token', {
      method: 'POST',
      body: JSON.stringify({
        ...{
          grant_type: 'password',
          email: connection.operator_email,
          password: connection.operator_password,
        },
      }),
    });
    const operator = { ...connection, access_key: login.access_token };
    const post = (path: string, body: object) =>
      call(operator, path, { method: 'POST', body: JSON.stringify(body) });
    const { body: organization } = await post('/organizations', { name: 'another' });
    const { body: project } = await post('/projects', {
      name: 'p',
      organization_id: organization.id,
    });
    expect((await call(operator, `/projects/${project.id}/vms`)).body.code).toBe(
      'payment_required',
    );
    const { body: billing } = await call(operator, `/organizations/${organization.id}/billing`);
    const form = await fetch(billing.url);
    expect([form.status, form.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
  });
});
