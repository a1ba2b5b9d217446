import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../testing/run-cli.ts';

const backup = {
  ...{ id: 'b1', name: 'monday', disk_id: 'd1', size: '10GiB', state: 'ready', location: 'eu' },
  ...{ parent_id: 'b0', stored_bytes: 4096, problem: '', created_at: '2026-01-01' },
};
const operation = (result: object) => ({
  operation: {
    ...{ operation_id: 'o1', state: 'SUCCEEDED', result, started_at: '', completed_at: '' },
    metadata: { operation_name: 'CREATE', id: 'b1', type: 'backup', request: {} },
  },
});
const P = '/v0.1/projects/p1';
const schedule = { disk_id: 'd1', every_hours: 6, keep: 3, next_at: 'soon', last_backup_at: '' };

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const ok = (body: unknown) => ({ status: 200, body });

beforeEach(async () => {
  cli = await makeTestCli();
  replies = {
    'GET /v0.1': ok({ project_id: 'p1', version: 'v0.1' }),
    [`GET ${P}/disks`]: ok({ items: [{ id: 'd1', name: 'data' }] }),
    [`GET ${P}/backups`]: ok({ items: [backup] }),
    [`POST ${P}/backups`]: ok(operation(backup)),
    [`DELETE ${P}/backups/b1`]: ok(operation(backup)),
    [`GET ${P}/disks/d1/backup-schedule`]: ok(schedule),
    [`PUT ${P}/disks/d1/backup-schedule`]: ok(schedule),
    [`DELETE ${P}/disks/d1/backup-schedule`]: ok(schedule),
    [`POST ${P}/disks`]: ok(
      operation({
        ...backup,
        id: 'd2',
        name: 'back',
        type: 'persistent-ssd',
        vm_ids: [],
        storage: 'network',
        encrypted: false,
      }),
    ),
  };
  server = await startScriptedServer(({ line }) => replies[line] ?? refusal(404, 'not_found'));
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (...args: string[]) =>
  cli.run(args, { env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' } });
const sent = () => JSON.parse(server.seen.findLast(({ body }) => body !== '')?.body ?? '');

it('a backup is made, listed with its kind, restored to a disk and deleted', async () => {
  const made = await run('backup', 'create', 'data', 'monday', '--full');
  expect(made).toMatchObject({ code: 0 });
  expect(sent()).toEqual({ name: 'monday', disk_id: 'd1', full: true });
  expect(made.stdout).toContain('changes since b0');
  expect((await run('backup', 'list')).stdout).toMatch(/monday +10GiB +ready +changes /);
  const create = ['disk', 'create', 'back', '--size', '10GiB', '--location', 'eu'];
  expect(await run(...create, '--from-backup', 'monday')).toMatchObject({ code: 0 });
  expect(sent()).toMatchObject({ name: 'back', backup_id: 'b1' });
  expect(await run('backup', 'delete', 'monday')).toMatchObject({ code: 0 });
});

it('a schedule is shown, set and removed', async () => {
  expect((await run('backup', 'schedule', 'data')).stdout).toMatch(/^Every +6 hours\n/);
  expect(await run('backup', 'schedule', 'data', '--every', '6', '--keep', '3')).toMatchObject({
    code: 0,
  });
  expect(sent()).toEqual({ every_hours: 6, keep: 3 });
  expect(await run('backup', 'unschedule', 'data')).toMatchObject({ code: 0 });
  expect(server.seen.at(-1)?.line).toBe(`DELETE ${P}/disks/d1/backup-schedule`);
});
