import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { postgres15Binaries } from '@gantry/testkit/database/postgres-15';
import {
  type Connection,
  type Gantry,
  makeHome,
  processesOf,
  startGantry,
} from '@gantry/testkit/processes/npm-start';
import { afterEach, describe, expect, it, vi } from 'vitest';

const sh = promisify(execFile);
/** For tests without hosts, which start sooner. */
const BARE = { GANTRY_FLEET_HOSTS: 'none' };
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

/** Runs the printed commands in a shell if curl exists, and otherwise sends the same requests. */
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
  it('prints four curl lines that work, a login that works, and the same in connection.json', async () => {
    const { home, gantry } = await start();
    const { connection } = gantry;
    expect((await stat(path.join(home, 'connection.json'))).mode & 0o777).toBe(0o600);
    for (const value of Object.values(connection)) expect(gantry.output()).toContain(value);

    const [availabilities, creation, vms, operations] = (await runPrinted(gantry.output())) as [
      { items: { type: string; available: boolean }[] },
      { operation: { operation_id: string; state: string; metadata: { id: string } } },
      { items: { id: string; name: string }[] },
      { items: { operation_id: string }[] },
    ];
    // Seventeen types in two locations.
    expect(availabilities.items.filter(({ available }) => available)).toHaveLength(34);
    expect(creation.operation.state).toBe('IN_PROGRESS');
    expect(vms.items).toMatchObject([{ id: creation.operation.metadata.id, name: 'demo' }]);
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
    const { home, gantry, entry } = await start(BARE);
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

    entry.gantry = await startGantry(home, BARE);
    const { connection: again } = entry.gantry;
    expect({ ...again, base_url: '' }).toEqual({ ...connection, base_url: '' });
    const { body } = await call(again, `/projects/${connection.project_id}/disks`);
    const kept = new Set(body.items.map(({ id }: { id: string }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });

  it('runs the VM that its lines create, stops on Ctrl-C leaving nothing, and has it again', async () => {
    const { home, gantry, entry } = await start();
    await runPrinted(gantry.output());
    const demo = async ({ connection }: Gantry) =>
      (await call(connection, `/projects/${connection.project_id}/vms?names=demo`)).body.items[0];
    const runs = (one: Gantry) =>
      expect.poll(async () => (await demo(one)).state).toBe('STATE_RUNNING');
    await runs(gantry);
    const vm = await demo(gantry);
    expect(vm).toMatchObject({ disks: [{ attachment_type: 'os', size: '128GiB' }] });
    const addressOf = (one: typeof vm) => one.network_interfaces[0].ips[0].private_ipv4.address;
    expect(addressOf(vm)).toMatch(/^172\.27\./);
    expect(vm.ssh_destination).toBe(vm.network_interfaces[0].ips[0].public_ipv4.address);
    const { connection } = gantry;
    const log = `/projects/${connection.project_id}/vms/${vm.id}/serial-log`;
    await expect
      .poll(async () => (await call(connection, log)).body.serial_log)
      .toContain('demo login:');

    expect(processesOf(home).length).toBeGreaterThan(3);
    expect(await gantry.stop()).toBe(0);
    expect(processesOf(home)).toEqual([]);

    entry.gantry = await startGantry(home);
    await runs(entry.gantry);
    const again = await demo(entry.gantry);
    expect([again.id, addressOf(again)]).toEqual([vm.id, addressOf(vm)]);
  });

  it('can run twice on one machine', async () => {
    const [one, two] = await Promise.all([start(BARE), start(BARE)]);
    expect(one.gantry.connection.base_url).not.toBe(two.gantry.connection.base_url);
    const foreign = await call(
      { ...two.gantry.connection, base_url: one.gantry.connection.base_url },
      '',
    );
    expect(foreign.status).toBe(401);
  });
});

describe('DATABASE_URL', () => {
  it('replaces the embedded server, also with the oldest supported version', async () => {
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
      // It may be a production database, so nothing is simulated there by default.
      expect(existsSync(path.join(home, 'fleet'))).toBe(false);
      const url = `/projects/${connection.project_id}/availabilities`;
      const { items } = (await call(connection, url)).body;
      expect(items.filter(({ available }: { available: boolean }) => available)).toEqual([]);
      expect(await gantry.stop()).toBe(0);
      expect(await postgres.isRunning()).toBe(true);
    } finally {
      await postgres.stop();
    }
  });
});

describe('the organization that npm start creates', () => {
  it('has a payment method, and a new one has none', async () => {
    const { gantry } = await start(BARE);
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
