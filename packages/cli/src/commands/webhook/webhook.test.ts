import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../testing/run-cli.ts';

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const ok = (body: unknown) => ({ status: 200, body });
const webhook = {
  ...{ id: 'w1', name: 'deploys', url: 'https://example.com/', event_types: ['vm'], tags: {} },
  ...{ description: '', state: 'enabled', disabled_reason: '', created_at: '2026-01-01' },
};
const delivery = {
  ...{ id: 'd1', event_id: '0-1-2', event_type: 'vm', resource_id: 'v1', state: 'pending' },
  ...{ attempts: 3, status_code: 500, latency_ms: 12, error: 'the receiver replied 500' },
  ...{ created_at: '2026-01-01', last_attempt_at: '', next_attempt_at: '2026-01-02' },
};

beforeEach(async () => {
  cli = await makeTestCli();
  replies = {
    'GET /v0.1': ok({ project_id: 'p' }),
    'GET /v0.1/webhooks': ok({ items: [webhook], next_page_token: '' }),
  };
  server = await startScriptedServer(
    ({ line }) => replies[line.replace('/projects/p', '')] ?? refusal(404, 'not_found'),
  );
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (...args: string[]) =>
  cli.run(['webhook', ...args], {
    env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
  });
const sent = () => JSON.parse(server.seen.at(-1)?.body ?? '');

it('a webhook is created, and its secret is printed', async () => {
  replies['POST /v0.1/webhooks'] = ok({ ...webhook, secret: 'whsec_x' });
  const args = ['--event-types', 'vm,event', '--tag', 'env=test', '--description', 'why'];
  const { stdout } = await run('create', 'deploys', 'https://example.com/', ...args);
  expect(stdout).toContain('Secret       whsec_x\n');
  expect(sent()).toEqual({
    ...{ name: 'deploys', url: 'https://example.com/', event_types: ['vm', 'event'] },
    ...{ description: 'why', tags: { env: 'test' } },
  });
  const wrong = await run('create', 'x', 'https://example.com/', '--event-types', 'host');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('host is none of')]);
});

it('webhooks and deliveries are listed', async () => {
  replies['GET /v0.1/webhooks/w1/deliveries?state=pending'] = ok({ items: [delivery] });
  expect((await run('list')).stdout).toContain('deploys  https://example.com/  vm');
  const { stdout } = await run('deliveries', 'deploys', '--state', 'pending');
  expect(stdout.split('\n')[1]?.split(/ {2,}/)).toEqual([
    ...[
      '2026-01-01',
      '0-1-2',
      'vm',
      'pending',
      '3',
      '2026-01-02',
      'the receiver replied 500',
      'v1',
    ],
  ]);
});

it('a test waits for the result, and fails if the message was not accepted', async () => {
  const failed = { ...delivery, state: 'failed' };
  const delivered = { ...delivery, state: 'delivered', status_code: 200 };
  replies['POST /v0.1/webhooks/w1:test'] = ok(delivery);
  replies['GET /v0.1/webhooks/w1/deliveries/d1'] = ok(delivered);
  const good = await run('test', 'deploys');
  expect([good.code, good.stdout]).toEqual([
    ...[0, 'delivered: the receiver replied 200 after 12 ms\n'],
  ]);
  replies['GET /v0.1/webhooks/w1/deliveries/d1'] = ok(failed);
  const bad = await run('test', 'deploys');
  expect([bad.code, bad.stdout]).toEqual([1, 'failed: the receiver replied 500\n']);
});

it('a replay begins at a time or after an event', async () => {
  replies['POST /v0.1/webhooks/w1:replay'] = ok(webhook);
  await run('replay', 'deploys', '--after', '0-1-2');
  expect(sent()).toEqual({ after_event_id: '0-1-2' });
  await run('replay', 'deploys', '--since', '2026-01-01T00:00:00Z');
  expect(sent()).toEqual({ since: '2026-01-01T00:00:00Z' });
  expect((await run('replay', 'deploys')).code).toBe(2);
});

it('a webhook gets another secret, is enabled and is deleted', async () => {
  replies['POST /v0.1/webhooks/w1:rotate-secret'] = ok({ ...webhook, secret: 'whsec_y' });
  replies['POST /v0.1/webhooks/w1:enable'] = ok(webhook);
  replies['DELETE /v0.1/webhooks/w1'] = ok(webhook);
  expect((await run('rotate-secret', 'w1')).stdout).toContain('whsec_y');
  expect((await run('enable', 'deploys')).code).toBe(0);
  expect((await run('delete', 'deploys', '--yes')).code).toBe(0);
  expect(server.seen.at(-1)?.line).toBe('DELETE /v0.1/projects/p/webhooks/w1');
});

it('the same commands manage the webhooks of operators', async () => {
  const own = { ...webhook, event_types: ['host'] };
  replies['GET /v0.1/admin/webhooks'] = ok({ items: [own], next_page_token: '' });
  replies['POST /v0.1/admin/webhooks'] = ok({ ...own, secret: 'whsec_z' });
  replies['POST /v0.1/admin/webhooks/w1:test'] = ok(delivery);
  const delivered = { ...delivery, state: 'delivered', status_code: 200 };
  replies['GET /v0.1/admin/webhooks/w1/deliveries/d1'] = ok(delivered);
  replies['GET /v0.1/admin/webhooks/w1/deliveries?state=failed'] = ok({ items: [delivery] });
  replies['POST /v0.1/admin/webhooks/w1:replay'] = ok(own);
  replies['POST /v0.1/admin/webhooks/w1:enable'] = ok(own);
  replies['POST /v0.1/admin/webhooks/w1:rotate-secret'] = ok({ ...own, secret: 'whsec_y' });
  replies['DELETE /v0.1/admin/webhooks/w1'] = ok(own);
  const types = ['--event-types', 'host,rollout', '--operator'];
  const created = await run('create', 'deploys', 'https://example.com/', ...types);
  expect(created.stdout).toContain('Secret       whsec_z\n');
  expect(sent()).toMatchObject({ event_types: ['host', 'rollout'] });
  expect((await run('list', '--operator')).stdout).toContain('deploys');
  for (const args of [
    ...[['show'], ['test'], ['deliveries', '--state', 'failed'], ['replay', '--after', '0-1-2']],
    ...[['enable'], ['rotate-secret'], ['delete', '--yes']],
  ]) {
    const [command = '', ...flags] = args;
    const { code, stderr } = await run(command, 'deploys', '--operator', ...flags);
    expect([command, code, stderr]).toEqual([command, 0, '']);
  }
  expect(server.seen.every(({ line }) => line.includes('/admin/webhooks'))).toBe(true);
});
