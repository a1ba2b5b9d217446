import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../testing/run-cli.ts';

const device = {
  ...{ pci_address: '0000:41:00.0', numa_node: 0, state: 'ready', state_reason: '', vm_id: '' },
  ...{ quarantine_reason: '', problems: [] as unknown[] },
  health: {
    ...{ link_speed_gts: 16, link_width: 8, max_link_speed_gts: 16, max_link_width: 16 },
    ...{ driver: 'vfio-pci', correctable_errors: 3, nonfatal_errors: 0, fatal_errors: 0 },
  },
};
const host = {
  ...{ id: 'h1', name: 'eu-1', location: 'eu', state: 'ready', admin_state: 'active' },
  ...{
    connected: true,
    labels: { rack: 'r1' },
    last_seen_at: '2026-01-01T10:00:00Z',
    agent_version: '1.0',
    vm_count: 1,
  },
  ...{
    drift: [] as string[],
    trouble: '',
    refusal: '',
    storage_fence_problem: '',
    unresponsive_vms: [],
    unknown_vms: [],
  },
  ...{ software: { os: 'Debian 12', kernel: '6.1', libvirt: '9.0' }, certificates: [] },
  gpus: [
    { ...device, id: 'g1', model: 'A40' },
    { ...device, id: 'g2', model: 'A40', vm_id: 'v1' },
  ],
  drives: [{ ...device, id: 'd1', size_gb: 3840, serial: 'S1', pci_address: '0000:01:00.0' }],
  vms: [{ id: 'v1', name: 'trainer', state: 'STATE_RUNNING' }],
};

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry>;
const ok = (body: unknown) => ({ status: 200, body });
const items = (...list: unknown[]) => ok({ items: list });

beforeEach(async () => {
  cli = await makeTestCli();
  const user = { id: 'u', email: 'op@example.com', operator: true, operator_role: 'admin' };
  replies = {
    'GET /v0.1': ok({ project_id: '', version: 'v0.1', user }),
    'GET /v0.1/admin/hosts?limit=1000': items(host),
    'GET /v0.1/admin/hosts/h1': ok(host),
    'GET /v0.1/admin/organizations?limit=1000': items({
      ...{ id: 't1', name: 'acme', paid: true, standing: 'good' },
    }),
    'GET /v0.1/admin/projects?limit=1000': items({
      id: 'p1',
      name: 'vision',
      organization_id: 't1',
    }),
  };
  server = await startScriptedServer(({ line }) => replies[line] ?? refusal(404, 'not_found'));
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
const last = () => server.seen.at(-1);
const sent = () => JSON.parse(last()?.body ?? '');

describe('a host', () => {
  it('is listed with its free GPUs and what needs attention, and fits the terminal', async () => {
    const lost = { ...host, name: 'eu-2', state: 'unreachable', drift: ['kernel'] };
    replies['GET /v0.1/admin/hosts?state=unreachable'] = items(lost);
    const { stdout } = await run(['host', 'list', '--state', 'unreachable']);
    expect(stdout).toMatch(
      /^NAME .*GPUS FREE .*\neu-2 +eu +unreachable +active +1 of 2 +1 +drift /,
    );
    replies['GET /v0.1/admin/hosts'] = items(host);
    const narrow = await run(['host', 'list'], { columns: 60 });
    expect(narrow.stdout).not.toContain('AGENT');
  });

  it('is shown, cordoned, drained and accepted by its name', async () => {
    expect((await run(['host', 'show', 'eu-1'])).stdout).toContain(
      'VM           trainer running v1',
    );
    const waiting = { ...host, storage_fence_problem: 'main does not reply' };
    replies['GET /v0.1/admin/hosts/h1'] = ok(waiting);
    expect((await run(['host', 'show', 'eu-1'])).stdout).toContain('Fence        main does not');
    replies['GET /v0.1/admin/hosts/h1'] = ok(host);
    for (const change of ['cordon', 'uncordon', 'accept']) {
      replies[`POST /v0.1/admin/hosts/h1:${change}`] = ok(host);
      expect((await run(['host', change, 'eu-1'])).code).toBe(0);
      expect(last()?.line).toBe(`POST /v0.1/admin/hosts/h1:${change}`);
    }
    const draining = { ...host, admin_state: 'draining', remaining_vms: host.vms };
    replies['POST /v0.1/admin/hosts/h1:drain'] = ok(draining);
    const { stdout } = await run(['host', 'drain', 'eu-1']);
    expect(stdout).toContain('Remaining VMs  1\nRemaining VM   trainer running v1\n');
    expect((await run(['drain', 'eu-1'])).stdout).toBe(stdout);
    expect((await run(['host', 'drain', 'eu-9'])).code).toBe(4);
  });

  it('gets labels, and keeps the others', async () => {
    const labels = { rack: 'r1', old: 'x' };
    replies['GET /v0.1/admin/hosts/h1'] = {
      ...{ status: 200, headers: { etag: '"e1"' }, body: { ...host, labels } },
    };
    replies['PATCH /v0.1/admin/hosts/h1'] = ok({ ...host, labels: { rack: 'r1', power: 'b' } });
    const { stdout } = await run(['host', 'label', 'eu-1', 'power=b', 'old-']);
    expect(stdout).toContain('Labels       rack=r1 power=b\n');
    expect(sent()).toEqual({ labels: { rack: 'r1', power: 'b' } });
    expect(last()?.ifMatch).toBe('"e1"');
    expect((await run(['host', 'label', 'eu-1', 'rack'])).code).toBe(2);
  });

  it('is fenced only if its name is typed', async () => {
    replies['POST /v0.1/admin/hosts/h1:fence'] = ok({ ...host, state: 'fenced' });
    const fence = ['host', 'fence', 'eu-1'];
    expect(await run(fence)).toMatchObject({ code: 2 });
    expect(await run(fence, { typed: ['eu-2\r'] })).toMatchObject({ code: 2 });
    expect(await run([...fence, '--confirm', 'h1'])).toMatchObject({ code: 2 });
    expect(server.seen.some(({ line }) => line.startsWith('POST'))).toBe(false);
    expect((await run(fence, { typed: ['eu-1\r'] })).code).toBe(0);
    expect(sent()).toEqual({ confirm: 'eu-1' });
    expect((await run([...fence, '--confirm', 'eu-1'])).code).toBe(0);
  });
});

it('the storage fence of a host is lifted only if its name is typed', async () => {
  replies['POST /v0.1/admin/hosts/h1:lift-storage-fence'] = ok({ ...host, state: 'fenced' });
  const lift = ['host', 'lift-storage-fence', 'eu-1'];
  expect(await run(lift)).toMatchObject({ code: 2 });
  expect(await run(lift, { typed: ['eu-2\r'] })).toMatchObject({ code: 2 });
  expect(server.seen.some(({ line }) => line.startsWith('POST'))).toBe(false);
  expect((await run([...lift, '--confirm', 'eu-1'])).code).toBe(0);
  expect(last()?.line).toBe('POST /v0.1/admin/hosts/h1:lift-storage-fence');
  expect(sent()).toEqual({ confirm: 'eu-1' });
});

describe('a device', () => {
  it('is listed by kind, and found by its id or its address on a host', async () => {
    const { stdout } = await run(['device', 'list', '--kind', 'drive', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject([{ kind: 'drive', id: 'd1', host_name: 'eu-1' }]);
    const shown = await run(['device', 'show', 'eu-1/0000:41:00.0']);
    expect(shown.stdout).toContain('Link          16 GT/s x8\nLargest link  16 GT/s x16\n');
    expect(shown.stdout).toContain('PCIe errors   3 correctable, 0 nonfatal, 0 fatal\n');
    expect((await run(['device', 'show', 'eu-1/0000:99:00.0'])).code).toBe(4);
    expect((await run(['device', 'show', 'g9'])).code).toBe(4);
  });

  it('is quarantined with a reason and released', async () => {
    const reply = {
      id: 'g1',
      kind: 'gpu',
      pci_address: '',
      state: 'ready',
      quarantine_reason: 'x',
    };
    replies['POST /v0.1/admin/devices/g1:quarantine'] = ok(reply);
    replies['POST /v0.1/admin/devices/g1:release'] = ok(reply);
    expect((await run(['device', 'quarantine', 'g1'])).code).toBe(2);
    expect((await run(['device', 'quarantine', 'g1', '--reason', 'smells'])).code).toBe(0);
    expect(sent()).toEqual({ reason: 'smells' });
    expect((await run(['device', 'release', 'g1'])).code).toBe(0);
  });

  it('has receipts with what they prove', async () => {
    const properties = [
      { name: 'reset', state: 'verified', detail: '' },
      { name: 'memory', state: 'not_verified', detail: '' },
    ];
    const receipt = {
      finished_at: '2026-01-01T10:00:00Z',
      method: 'flr',
      failure_code: '',
      failure_message: '',
    };
    replies['GET /v0.1/admin/devices/g1/receipts'] = items({ ...receipt, properties, vm_id: 'v1' });
    expect((await run(['device', 'receipts', 'g1'])).stdout).toMatch(/ flr +clean +reset +v1/);
  });
});

describe('a rollout', () => {
  const counts = { pending: 3, updating: 0, done: 0, failed: 0, skipped: 0 };
  const rollout = {
    ...{ id: 'r1', version: '0.2.0', labels: { rack: 'r1' }, state: 'running', state_reason: '' },
    ...{ wave: 0, last_wave: 2, hosts: counts, canary_count: 1, batch_size: 2, max_failures: 0 },
    ...{ host_time_limit_seconds: 600, created_at: '2026-01-01T10:00:00Z', ended_at: '' },
  };
  const paused = {
    ...{ ...rollout, state: 'paused', state_reason: '1 host has failed: eu-1: no such version' },
    hosts: { ...counts, pending: 2, failed: 1 },
  };

  it('is created for hosts with a label or for all, and shows its progress until it pauses', async () => {
    replies['POST /v0.1/admin/rollouts'] = ok(rollout);
    replies['GET /v0.1/admin/rollouts/r1'] = ok(paused);
    const create = ['rollout', 'create', '--version', '0.2.0'];
    expect((await run(create)).code).toBe(2);
    expect((await run([...create, '--all', '--label', 'a=b'])).code).toBe(2);
    const waves = ['--canaries', '1', '--batch', '2', '--limit', '30', '--max-failures', '0'];
    const ended = await run([...create, '--label', 'rack=r1', ...waves]);
    expect(ended.code).toBe(6);
    expect(ended.stderr).toContain('0.2.0: running, wave 0 of 2: 3 pending\n');
    expect(ended.stderr).toContain('0.2.0: paused, wave 0 of 2: 2 pending, 1 failed\n');
    expect(ended.stderr).toContain('eu-1: no such version');
    const post = server.seen.find(({ line }) => line === 'POST /v0.1/admin/rollouts');
    expect(JSON.parse(post?.body ?? '')).toEqual({
      ...{ version: '0.2.0', labels: { rack: 'r1' }, canary_count: 1, batch_size: 2 },
      ...{ host_time_limit_seconds: 30, max_failures: 0 },
    });
    expect((await run([...create, '--all', '--no-wait'])).code).toBe(0);
    expect(sent()).toEqual({ version: '0.2.0', labels: {} });
  });

  it('is listed, shown with the hosts that failed, paused and rolled back', async () => {
    replies['GET /v0.1/admin/rollouts?limit=100'] = items(paused);
    expect((await run(['rollout', 'list'])).stdout).toMatch(/r1 +0.2.0 +paused +0 of 2 +2 pending/);
    const failed = { name: 'eu-1', wave: 0, state: 'failed', from_version: '0.1.0' };
    replies['GET /v0.1/admin/rollouts/r1'] = ok(paused);
    replies['GET /v0.1/admin/rollouts/r1/hosts?limit=1000'] = items(
      { ...failed, agent_version: '0.1.0', reason: 'no such version' },
      { ...failed, name: 'eu-2', state: 'pending', agent_version: '0.1.0', reason: '' },
    );
    const { stdout } = await run(['rollout', 'show', 'r1']);
    expect(stdout).toMatch(/\neu-1 +0 +failed +0.1.0 +0.1.0 +no such version/);
    expect(stdout).not.toContain('eu-2');
    replies['POST /v0.1/admin/rollouts/r1:pause'] = ok(paused);
    expect((await run(['rollout', 'pause', 'r1'])).code).toBe(0);
    replies['POST /v0.1/admin/rollouts/r1:roll-back'] = ok({ ...rollout, state: 'rolled_back' });
    expect((await run(['rollout', 'roll-back', 'r1'])).stdout).toContain('rolled back');
    expect(last()?.line).toBe('POST /v0.1/admin/rollouts/r1:roll-back');
  });
});

it('join prints the line to paste, or the same as three commands', async () => {
  const line = 'curl -fsSL https://gantry.test/join/gantry_jt_1 | sudo sh';
  const token = {
    ...{ token: 'gantry_jt_1', ca_sha256: 'abc', expires_at: '2026-01-02' },
    ...{ join_line: line, join_commands: ['install', 'enrol', 'start'] },
  };
  replies['POST /v0.1/admin/join-tokens'] = ok(token);
  const { stdout } = await run(['join', '--location', 'eu', '--hours', '2']);
  expect(stdout).toBe(`${line}\n`);
  expect(sent()).toEqual({ location: 'eu', expires_in_hours: 2 });
  const steps = await run(['join', '--host', 'eu-1', '--steps']);
  expect(steps.stdout).toBe('install\nenrol\nstart\n');
  expect(sent()).toEqual({ host_id: 'h1' });
  expect((await run(['join'])).code).toBe(2);
  replies['POST /v0.1/admin/join-tokens'] = ok({ ...token, ca_sha256: '' });
  expect((await run(['join', '--location', 'eu'])).stderr).toContain('no scheduler has started');
});

it('explain prints the filters, why each host does not fit, and the verdict', async () => {
  const placement = { host_id: '', host_name: '', gpus: [], drives: [] };
  const filters = [
    { filter: 'location', left: 1 },
    { filter: 'gpu_count', left: 0 },
  ];
  const hosts = [{ host_id: 'h1', name: 'eu-1', fits: false, reason: '1 of 8 GPUs is free' }];
  replies['POST /v0.1/admin/placements:explain'] = ok({ placement, filters, hosts });
  const { stdout } = await run(['explain', '--type', 'a40.8x', '--location', 'eu']);
  expect(stdout).toBe(
    [
      'FILTER     HOSTS LEFT',
      'location   1',
      'gpu_count  0',
      '',
      'HOST  WHY NOT',
      'eu-1  1 of 8 GPUs is free',
      '',
      'No host has room for a40.8x.',
      '',
    ].join('\n'),
  );
});

describe('a tenant', () => {
  const standing = { standing: 'suspended', reason: 'abuse', since: '', suspends_at: '' };

  it('is shown with its projects, suspended and resumed', async () => {
    replies['GET /v0.1/organizations/t1/standing'] = ok({ ...standing, stops_vms_at: 'soon' });
    replies['POST /v0.1/admin/organizations/t1:suspend'] = ok({
      ...standing,
      stops_vms_at: 'soon',
    });
    replies['POST /v0.1/admin/organizations/t1:resume'] = ok({ ...standing, stops_vms_at: '' });
    expect((await run(['tenant', 'list'])).stdout).toMatch(/acme +good +yes +t1/);
    expect((await run(['tenant', 'show', 'acme'])).stdout).toContain('Project         vision p1');
    await run(['tenant', 'suspend', 'acme', '--reason', 'abuse', '--grace-hours', '0']);
    expect(sent()).toEqual({ reason: 'abuse', grace_hours: 0 });
    expect((await run(['tenant', 'resume', 'acme'])).code).toBe(0);
  });

  it('has quotas, which are set together', async () => {
    const quotas = [{ type: 'vms', max: 5, used: 1, available: 4 }];
    replies['GET /v0.1/admin/organizations/t1/quotas'] = ok({ quotas });
    replies['PUT /v0.1/admin/projects/p1/quotas'] = ok({ quotas });
    expect((await run(['tenant', 'quota', 'acme'])).stdout).toMatch(/vms +5 +1 +4/);
    const set = ['--project', 'vision', '--set', 'vms=5', '--set', 'gpus=8'];
    await run(['tenant', 'quota', 'acme', ...set]);
    expect(sent()).toEqual({ vms: 5, gpus: 8 });
    expect((await run(['tenant', 'quota', 'acme', '--set', 'vms'])).code).toBe(2);
  });
});

describe('doctor', () => {
  beforeEach(() => {
    replies['GET /v0.1/admin/orphans?limit=1000'] = items();
    replies['GET /v0.1/admin/fleet/summary'] = ok({ gpus, failed_operations: 0 });
  });
  const count = { location: 'eu', model: 'A40', free: 5, sold: 2, cleaning: 1, blocked: 0 };
  const gpus = [count, { ...count, location: 'us', blocked: 3 }];
  const result = async (check: string) => {
    const { code, stdout } = await run(['doctor', '-o', 'json']);
    const found = JSON.parse(stdout).find((each: { check: string }) => each.check === check);
    return { code, ...found };
  };

  it('is content with a fleet that works', async () => {
    const { code, stdout } = await run(['doctor']);
    expect(code).toBe(0);
    expect(stdout).toContain('op@example.com, operator (admin)');
    expect(stdout).toContain('10 free, 4 sold, 2 being cleaned, 3 blocked');
    expect(stdout).not.toMatch(/^(?:warn|fail)/m);
  });

  it('of a tenant counts the failed operations of the own projects', async () => {
    const user = { id: 'u', email: 'ada@example.com', operator: false, operator_role: '' };
    replies['GET /v0.1'] = ok({ project_id: '', version: 'v0.1', user });
    replies['GET /v0.1/projects'] = ok([{ id: 'p1' }, { id: 'p2' }]);
    const failed = { started_at: new Date().toISOString(), result: { code: 'out_of_stock' } };
    for (const id of ['p1', 'p2'])
      replies[`GET /v0.1/projects/${id}/vms/operations?state=FAILED&limit=100`] = items(failed);
    expect(await result('operations succeed')).toMatchObject({
      ...{ result: 'warn', message: '2 failed in the last day: 2 out_of_stock' },
    });
  });

  it('fails if a host is lost, and names it', async () => {
    replies['GET /v0.1/admin/hosts?limit=1000'] = items({ ...host, connected: false });
    expect(await result('hosts connected')).toMatchObject({
      ...{ code: 8, result: 'fail', message: 'not so on eu-1: gantry host show eu-1' },
    });
  });

  it('warns of drift, blocked devices and failed operations of the last day', async () => {
    const blocked = [{ ...device, id: 'g1', model: 'A40', state: 'quarantined' }];
    replies['GET /v0.1/admin/hosts?limit=1000'] = items({
      ...host,
      drift: ['kernel'],
      gpus: blocked,
    });
    const failed = (code: string, started_at: string) => ({ started_at, result: { code } });
    const now = new Date().toISOString();
    replies['GET /v0.1/admin/fleet/summary'] = ok({ gpus: [], failed_operations: 1 });
    replies['GET /v0.1/admin/operations?state=FAILED&limit=100'] = items(
      ...[failed('out_of_stock', now), failed('host_failed', '2020-01-01T00:00:00Z')],
    );
    expect(await result('hosts as accepted')).toMatchObject({ code: 0, result: 'warn' });
    expect(await result('devices usable')).toMatchObject({ result: 'warn' });
    expect(await result('operations succeed')).toMatchObject({
      ...{ result: 'warn', message: '1 failed in the last day: 1 out_of_stock' },
    });
  });

  it('reports a login that the server refuses', async () => {
    replies['GET /v0.1'] = refusal(401, 'bad_credential');
    expect((await run(['doctor'])).code).toBe(3);
  });
});
