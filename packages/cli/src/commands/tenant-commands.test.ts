import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../testing/run-cli.ts';

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const items = (...list: unknown[]) => ({ status: 200, body: { items: list } });

beforeEach(async () => {
  cli = await makeTestCli();
  replies = {
    'GET /v0.1': { status: 200, body: { project_id: 'p' } },
    'GET /v0.1/vms?names=trainer': items({ id: 'v1', name: 'trainer' }),
    'GET /v0.1/vpc/networks': items({ id: 'n1', name: 'lab' }, { id: 'n2', name: 'other' }),
    'GET /v0.1/vpc/subnets': items({ id: 's1', name: 'inner' }),
  };
  server = await startScriptedServer(
    ({ line }) => replies[line.replace('/projects/p', '')] ?? refusal(404, 'not_found'),
  );
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (args: string[], options: { columns?: number; typed?: string[] } = {}) =>
  cli.run(args, {
    ...options,
    env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
  });
const sent = () => JSON.parse(server.seen.at(-1)?.body ?? '');

describe('firewall', () => {
  const rule = {
    ...{ id: 'r1', name: 'ssh', direction: 'ingress', action: 'allow', vpc_network_id: 'n1' },
    ...{ state: 'active', protocols: ['tcp'], source_ports: [], destination_ports: ['22'] },
    ...{ sources: [{ cidr: '10.0.0.0/8', resource_id: '' }], destinations: [] },
  };
  const operation = {
    ...{ operation_id: 'o1', state: 'SUCCEEDED', result: rule },
    metadata: { operation_name: 'CREATE', id: 'r1', type: 'vpc-firewall-rule', request: {} },
  };

  it('rules are listed with the names of their networks', async () => {
    const destinations = [{ cidr: '', resource_id: 'n1' }];
    const others = { ...rule, vpc_network_id: 'n2' };
    replies['GET /v0.1/vpc/firewall-rules'] = items({ ...rule, destinations }, others);
    const { stdout } = await run(['firewall', 'list', '--network', 'lab']);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['NAME', 'DIRECTION', 'ACTION', 'PROTOCOLS', 'FROM', 'TO', 'PORTS', 'STATE', 'NETWORK'],
      ['ssh', 'ingress', 'allow', 'tcp', '10.0.0.0/8', 'network:lab', '22', 'active', 'lab'],
      [''],
    ]);
    const narrow = await run(['firewall', 'list'], { columns: 70 });
    for (const line of narrow.stdout.split('\n')) expect(visible(line)).toBeLessThanOrEqual(70);
  });

  it('a rule is created with names for its ends', async () => {
    replies['POST /v0.1/vpc/firewall-rules'] = { status: 200, body: { operation } };
    const ends = ['--from', 'network:lab,10.1.0.0/16', '--to', 'vm:trainer,subnet:inner'];
    const ports = ['--protocol', 'tcp,udp', '--port', '80,3000-8080', '--action', 'deny'];
    const created = await run(['firewall', 'create', 'ssh', '--network', 'lab', ...ends, ...ports]);
    expect(created).toMatchObject({ code: 0 });
    expect(created.stdout).toContain('From       10.0.0.0/8\nTo         anywhere\n');
    expect(sent()).toEqual({
      ...{ name: 'ssh', vpc_network_id: 'n1', action: 'deny', direction: 'ingress' },
      ...{ protocols: ['tcp', 'udp'], destination_ports: ['80', '3000-8080'] },
      sources: [{ resource_id: 'n1' }, { cidr: '10.1.0.0/16' }],
      destinations: [{ resource_id: 'v1' }, { resource_id: 's1' }],
    });
    const wrong = await run(['firewall', 'create', 'x', '--network', 'lab', '--from', 'trainer']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain('--from: trainer is no address');
  });

  it('a rule is deleted by its name', async () => {
    replies['GET /v0.1/vpc/firewall-rules'] = items(rule);
    replies['DELETE /v0.1/vpc/firewall-rules/r1'] = { status: 200, body: { operation } };
    expect((await run(['firewall', 'delete', 'ssh'], { typed: ['no\r'] })).code).toBe(2);
    expect((await run(['firewall', 'delete', 'ssh', '-y'])).code).toBe(0);
  });

  it('a connection is traced between a VM and an address, with the rule of each step', async () => {
    const step = { direction: 'egress', source: '10.0.0.2', destination: '1.1.1.1' };
    const steps = [{ ...step, allowed: false, rule_name: '' }];
    const body = { allowed: false, reason: 'no_rule_allows', settled: false, steps };
    replies['POST /v0.1/vpc/firewall-rules:trace'] = { status: 200, body };
    const { stdout } = await run(['firewall', 'trace', 'trainer', '1.1.1.1', '--port', '443']);
    expect(stdout).toBe(
      [
        'STEP    FROM      TO       ALLOWED  RULE',
        'egress  10.0.0.2  1.1.1.1  no       (no rule allows it)',
        'The connection is dropped: no rule allows it. A rule is still on its way to a host.',
        '',
      ].join('\n'),
    );
    expect(sent()).toEqual({ from: 'v1', to: '1.1.1.1', protocol: 'tcp', port: 443 });
  });
});

describe('key', () => {
  const key = { id: 'k1', name: 'laptop', fingerprint: 'SHA256:abc', created_at: '2026-01-01' };

  it('is added from a file, listed and removed by its name', async () => {
    const file = path.join(cli.home, 'id.pub');
    await writeFile(file, 'ssh-ed25519 AAAA me\n');
    replies['POST /v0.1/ssh-keys'] = { status: 200, body: key };
    replies['GET /v0.1/ssh-keys'] = items(key);
    replies['DELETE /v0.1/ssh-keys/k1'] = { status: 200, body: key };
    expect((await run(['key', 'add', 'laptop', file])).stdout).toContain('SHA256:abc\n');
    expect(sent()).toEqual({ name: 'laptop', public_key: 'ssh-ed25519 AAAA me' });
    expect((await run(['key', 'list'])).stdout).toContain('laptop  SHA256:abc');
    expect((await run(['key', 'remove', 'laptop'])).code).toBe(0);
  });

  it('of your own is added, listed and removed without a project', async () => {
    const file = path.join(cli.home, 'id.pub');
    await writeFile(file, 'ssh-ed25519 AAAA me\n');
    const key = { id: 'k2', name: 'mine', fingerprint: 'SHA256:xyz', created_at: '2026-01-01' };
    replies['POST /v0.1/auth/ssh-keys'] = { status: 200, body: key };
    replies['GET /v0.1/auth/ssh-keys'] = items(key);
    replies['DELETE /v0.1/auth/ssh-keys/k2'] = { status: 200, body: key };
    expect((await run(['key', 'add', 'mine', file, '--own'])).stdout).toContain('SHA256:xyz\n');
    expect(sent()).toEqual({ name: 'mine', public_key: 'ssh-ed25519 AAAA me' });
    expect((await run(['key', 'list', '--own'])).stdout).toContain('mine  SHA256:xyz');
    expect((await run(['key', 'remove', 'mine', '--own'])).code).toBe(0);
    expect(server.seen.every(({ line }) => line.includes('/auth/ssh-keys'))).toBe(true);
  });

  it('that is private is never sent', async () => {
    const file = path.join(cli.home, 'id');
    await writeFile(file, '-----BEGIN OPENSSH PRIVATE KEY-----\n');
    expect((await run(['key', 'add', 'laptop', file])).code).toBe(2);
    expect(server.seen).toEqual([]);
  });
});

it('an access key is created with its secret, which the list does not show', async () => {
  const shown = { id: 'k1', name: 'ci', role: 'read-only', expires_at: '', last_used_at: '' };
  const key = { ...shown, tags: { team: 'build' } };
  const body = { ...key, access_key: 'gantry_ak_new' };
  replies['POST /v0.1/access-keys'] = { status: 200, body };
  replies['GET /v0.1/access-keys'] = items({ ...key, creator: 'me@example.com' });
  replies['DELETE /v0.1/access-keys/k1'] = { status: 200, body: key };
  const { stdout } = await run([
    'access-key',
    'create',
    'ci',
    '--role',
    'read-only',
    '--days',
    '1',
  ]);
  expect(stdout).toContain('Access key  gantry_ak_new\n');
  expect(Date.parse(sent().expires_at)).toBeGreaterThan(Date.now());
  expect((await run(['access-key', 'list'])).stdout).toContain('ci    read-only             never');
  expect((await run(['access-key', 'delete', 'ci'])).code).toBe(0);
  expect((await run(['access-key', 'create', 'ci', '--days', '0'])).code).toBe(2);
});

it('usage is listed by day with its total, for people; programs get the items', async () => {
  const day = {
    ...{ date: '2026-01-31', project_id: 'p', resource_type: 'a40.1x', region: 'eu', priced: true },
    ...{ billable_metric: 'vm_seconds', quantity: 7200, cost_usd: 2.5, adjustment_reason: '' },
  };
  const disk = { ...day, resource_type: 'ssd', billable_metric: 'gb_hours', priced: false };
  replies['GET /v0.1/projects'] = {
    status: 200,
    body: [{ id: 'p', name: 'vision', organization_id: 'org' }],
  };
  replies['GET /v0.1/organizations/org/usage?start_date=2026-01-01'] = items(day, disk);
  const { stdout } = await run(['usage', '--from', '2026-01-01']);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['DAY', 'PROJECT', 'TYPE', 'QUANTITY', 'USD', 'REGION', 'NOTE'],
    ['2026-01-31', 'vision', 'a40.1x', '2.00 VM hours', '2.50', 'eu'],
    ['2026-01-31', 'vision', 'ssd', '7200.00 GB hours', '2.50', 'eu', 'no price was set'],
    ['total', '5.00'],
    [''],
  ]);
  const json = await run(['usage', '--from', '2026-01-01', '-o', 'json']);
  expect(JSON.parse(json.stdout)).toEqual([day, disk]);
  const csv = await run(['usage', '--from', '2026-01-01', '--csv']);
  expect(csv.stdout.split('\r\n').map((line) => line.split(',').slice(0, 4))).toEqual([
    ['date', 'project', 'project_id', 'resource_type'],
    ['2026-01-31', 'vision', 'p', 'a40.1x'],
    ['2026-01-31', 'vision', 'p', 'ssd'],
    [''],
  ]);
});

/** The width of a line without its colours. */
function visible(line: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
  return line.replaceAll(/\u001b\[\d+m/g, '').length;
}
