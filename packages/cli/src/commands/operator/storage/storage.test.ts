import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../../testing/run-cli.ts';

const cluster = {
  ...{ id: 'c1', name: 'main', monitors: ['10.0.0.1:3300', '10.0.0.2:3300'], user_name: 'gantry' },
  ...{ fsid: 'f1', problem: '', created_at: '2026-01-01T10:00:00Z' },
};
const pool = {
  ...{ id: 'p1', storage_cluster_id: 'c1', name: 'volumes', location: 'eu', active: true },
  ...{ encrypted: false, file_system: '' },
  ...{ disk_type: 'persistent-ssd', overcommit_percent: 200, size_gib: 90, used_gib: 7 },
  ...{ allocated_gib: 30, observed_at: '', problem: 'volume x has no disk', created_at: '' },
};

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const ok = (body: unknown) => ({ status: 200, body });
const CLUSTERS = '/v0.1/admin/storage/clusters';
const POOLS = '/v0.1/admin/storage/pools';

beforeEach(async () => {
  cli = await makeTestCli();
  replies = {
    [`GET ${CLUSTERS}?limit=1000`]: ok({ items: [cluster] }),
    [`GET ${CLUSTERS}/c1`]: ok(cluster),
    [`GET ${POOLS}?limit=1000`]: ok({ items: [pool] }),
    [`GET ${POOLS}/p1`]: ok(pool),
  };
  server = await startScriptedServer(({ line }) => replies[line] ?? refusal(404, 'not_found'));
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (...args: string[]) =>
  cli.run(['storage', ...args], {
    env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
  });
const last = () => server.seen.at(-1);
const sent = () => JSON.parse(last()?.body ?? '');

describe('a storage cluster', () => {
  it('is listed and shown by its name', async () => {
    expect((await run('cluster', 'list')).stdout).toMatch(
      /^NAME .*\nmain +10.0.0.1:3300 10.0.0.2:3300 +gantry +f1 /,
    );
    expect(JSON.parse((await run('cluster', 'show', 'main', '-o', 'json')).stdout)).toEqual(
      cluster,
    );
    expect((await run('cluster', 'show', 'other')).code).toBe(4);
  });

  it('is connected with its monitors and its user', async () => {
    replies[`POST ${CLUSTERS}`] = ok(cluster);
    expect((await run('cluster', 'create', 'main', '--user', 'gantry')).code).toBe(2);
    const monitors = ['--monitor', '10.0.0.1:3300', '--monitor', '10.0.0.2:3300'];
    expect((await run('cluster', 'create', 'main', '--user', 'gantry', ...monitors)).code).toBe(0);
    const { name, user_name } = cluster;
    expect(sent()).toEqual({ name, user_name, monitors: cluster.monitors });
  });

  it('is disconnected', async () => {
    replies[`DELETE ${CLUSTERS}/c1`] = ok(cluster);
    expect((await run('cluster', 'delete', 'main')).code).toBe(0);
    expect(last()?.line).toBe(`DELETE ${CLUSTERS}/c1`);
  });
});

describe('a storage pool', () => {
  it('is listed with its space and what is wrong, also by cluster and location', async () => {
    expect((await run('pool', 'list')).stdout).toMatch(
      /\nvolumes +eu +persistent-ssd +yes +no +90 +7 +30 +volume x has no disk /,
    );
    replies[`GET ${POOLS}?storage_cluster_id=c1&location=eu&limit=1000`] = ok({ items: [] });
    const filtered = await run('pool', 'list', '--cluster', 'main', '--location', 'eu');
    expect(filtered.stdout + filtered.stderr).toContain('No pool matches.');
    expect((await run('pool', 'show', 'volumes')).stdout).toContain('Overcommit  200 %\n');
  });

  it('is connected for a location, changed and disconnected', async () => {
    replies[`POST ${POOLS}`] = ok(pool);
    const create = ['pool', 'create', 'volumes', '--cluster', 'main', '--location', 'eu'];
    expect((await run(...create, '--overcommit', '200')).code).toBe(0);
    const body = { storage_cluster_id: 'c1', name: 'volumes', location: 'eu' };
    expect(sent()).toEqual({ ...body, disk_type: 'persistent-ssd', overcommit_percent: 200 });
    expect((await run(...create, '--encrypted')).code).toBe(0);
    expect(sent()).toEqual({ ...body, disk_type: 'persistent-ssd', encrypted: true });
    replies[`PATCH ${POOLS}/p1`] = ok({ ...pool, active: false });
    expect((await run('pool', 'update', 'volumes', '--no-active')).stdout).toContain(
      'New disks   no\n',
    );
    expect(sent()).toEqual({ active: false });
    replies[`DELETE ${POOLS}/p1`] = ok(pool);
    expect((await run('pool', 'delete', 'p1', '--yes')).code).toBe(0);
  });

  it('update without a change is refused before a request is sent', async () => {
    expect(await run('pool', 'update', 'volumes')).toMatchObject({ code: 2 });
    expect(server.seen).toEqual([]);
  });
});

it('names of clusters and pools are completed', async () => {
  const env = { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' };
  const complete = (...words: string[]) => cli.run(['__complete', 'storage', ...words], { env });
  expect((await complete('pool', 'show', 'vol')).stdout).toMatch(/^volumes\b/);
  expect((await complete('pool', 'create', 'x', '--cluster', 'm')).stdout).toMatch(/^main\b/);
});
