import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  refusal,
  type ScriptEntry,
  type ScriptedServer,
  type SeenRequest,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../testing/run-cli.ts';

const ID = '00000000-0000-4000-8000-000000000001';
const vm = {
  ...{ id: ID, name: 'trainer', state: 'STATE_RUNNING', type: 'a40.1x', location: 'eu-north-a' },
  ...{ ssh_destination: '203.0.113.5', created_at: '2026-03-01T10:00:00.000Z' },
  ...{ disks: [{ name: 'trainer-os', size: '128GiB' }], tags: { env: 'prod' } },
  network_interfaces: [
    {
      network: 'n1',
      ips: [{ private_ipv4: { address: '10.0.0.2' }, public_ipv4: { address: '203.0.113.5' } }],
    },
  ],
};
const operation = (state: string, result: unknown = null) => ({
  ...{ operation_id: 'o1', state, result },
  metadata: { operation_name: 'STOP', id: ID, type: 'vm', request: {} },
  ...{ started_at: '2026-03-01T10:00:00.000Z', completed_at: '' },
});

const usage = {
  ...{ vm_id: ID, until: '2026-03-01T14:12:00.000Z', vm_seconds: 15_120, vm_cost_usd: 12.18 },
  ...{ os_disk_gb_hours: 537.6, os_disk_cost_usd: 0.13, cost_usd: 12.31, priced: true },
};

let cli: TestCli;
let server: ScriptedServer;
let replies: Record<string, ScriptEntry | ((request: SeenRequest) => ScriptEntry)>;

beforeEach(async () => {
  cli = await makeTestCli();
  replies = {
    'GET /v0.1': { status: 200, body: { project_id: 'p' } },
    [`GET /v0.1/projects/p/vms/${ID}/usage`]: { status: 200, body: usage },
    'GET /v0.1/projects/p/vms': ({ line }) => {
      const { searchParams } = new URL(line.split(' ')[1] ?? '', 'http://x');
      const isOther = searchParams.get('names') === 'other';
      return { status: 200, body: { items: isOther ? [] : [vm], next_page_token: '' } };
    },
  };
  server = await startScriptedServer((request) => {
    const reply = replies[request.line.split('?')[0] ?? ''] ?? refusal(404, 'not_found');
    return typeof reply === 'function' ? reply(request) : reply;
  });
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const run = (args: string[], options: { columns?: number; typed?: string[] } = {}) =>
  cli.run(['vm', ...args], {
    ...options,
    env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
  });
const asked = () => server.seen.map(({ line }) => decodeURIComponent(line)).slice(1);

describe('vm list', () => {
  it('prints a table for people, without escape sequences if it is no terminal', async () => {
    const { code, stdout } = await run(['list']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        'NAME     STATE    TYPE    LOCATION    ADDRESS      CREATED           TAGS',
        'trainer  running  a40.1x  eu-north-a  203.0.113.5  2026-03-01T10:00  env=prod',
        '',
      ].join('\n'),
    );
  });

  it('fits the terminal, and has colours there unless NO_COLOR is set', async () => {
    const { stdout } = await run(['list'], { columns: 60 });
    expect(stdout).toContain('\u001b[32mrunning\u001b[39m');
    expect(stdout).not.toContain('TAGS');
    const env = {
      ...{ GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test', NO_COLOR: '1' },
    };
    const plain = await cli.run(['vm', 'list'], { columns: 60, env });
    expect(plain.stdout).not.toContain('\u001b');
  });

  it('prints the objects of the API for programs', async () => {
    const { stdout } = await run(['list', '--output', 'json']);
    expect(JSON.parse(stdout)).toEqual([vm]);
  });

  it('sends its filters as the API expects them', async () => {
    const states = ['--state', 'running,shutoff', '--type', 'a40.1x'];
    await run(['list', ...states, '--tag', 'env=prod', '--tag', 'team=a=b']);
    expect(asked()).toEqual([
      'GET /v0.1/projects/p/vms?types=a40.1x&states=STATE_RUNNING,STATE_SHUTOFF&tag=env:prod&tag=team:a=b',
    ]);
  });

  it('begins with the newest VM if the person wants that', async () => {
    await run(['list', '--newest-first']);
    expect(asked()).toEqual(['GET /v0.1/projects/p/vms?sort=-created_at']);
  });

  it('refuses a filter that is none, and asks the server nothing', async () => {
    const { code, stderr } = await run(['list', '--tag', 'env']);
    expect(code).toBe(2);
    expect(stderr).toContain('key=value');
    expect((await run(['list', '--state', 'asleep'])).code).toBe(2);
    expect(server.seen).toEqual([]);
  });
});

describe('a VM', () => {
  it('is found by its name or its id', async () => {
    const { stdout } = await run(['show', 'trainer']);
    expect(stdout).toContain('Public address   203.0.113.5\n');
    expect(stdout).toContain('Cost so far      USD 12.31: 4.2 hours 12.18, OS disk 0.13\n');
    await run(['show', ID]);
    expect(asked().filter((line) => line.includes('vms?'))).toEqual([
      'GET /v0.1/projects/p/vms?names=trainer',
      `GET /v0.1/projects/p/vms?ids=${ID}`,
    ]);
  });

  it('that does not exist has its own exit code', async () => {
    expect(await run(['show', 'other'])).toMatchObject({
      code: 4,
      stderr: 'gantry: there is no VM other\n',
    });
    expect((await run(['show', 'a,b'])).code).toBe(4);
  });

  it('is stopped, and the states of the operation are shown until it has ended', async () => {
    replies[`PATCH /v0.1/projects/p/vms/${ID}`] = {
      status: 200,
      body: { operation: operation('IN_PROGRESS') },
    };
    replies['GET /v0.1/projects/p/vms/operations/o1'] = {
      status: 200,
      body: operation('SUCCEEDED', vm),
    };
    expect(await run(['stop', 'trainer'])).toEqual({
      ...{ code: 0, stdout: '' },
      stderr: 'stop trainer: in progress\nstop trainer: succeeded\n',
    });
    const json = await run(['stop', 'trainer', '-o', 'json']);
    expect(JSON.parse(json.stdout)).toEqual(vm);
    const { stdout } = await run(['stop', 'trainer', '--no-wait', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ operation_id: 'o1', state: 'IN_PROGRESS' });
  });

  it('whose operation fails is reported with code, message and operation', async () => {
    const result = { code: 'out_of_stock', message: 'no host has room' };
    replies[`PATCH /v0.1/projects/p/vms/${ID}`] = {
      status: 200,
      body: { operation: operation('FAILED', result) },
    };
    const { code, stderr } = await run(['start', 'trainer']);
    expect(code).toBe(6);
    expect(stderr).toContain('gantry: no host has room\n  code: out_of_stock\n  operation: o1\n');
  });

  it('is deleted after a confirmation on a terminal, and not without it', async () => {
    replies[`DELETE /v0.1/projects/p/vms/${ID}`] = {
      status: 200,
      body: { operation: operation('SUCCEEDED', vm) },
    };
    const refused = await run(['delete', 'trainer'], { typed: ['no\r'] });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(asked().some((line) => line.startsWith('DELETE'))).toBe(false);
    expect((await run(['delete', 'trainer'], { typed: ['yes\r'] })).code).toBe(0);
    expect((await run(['delete', 'trainer', '--yes'], { typed: [] })).code).toBe(0);
    expect((await run(['delete', 'trainer'])).code).toBe(0);
    expect(asked().filter((line) => line.startsWith('DELETE'))).toHaveLength(3);
  });

  it('prints its serial log unchanged into a pipe, and without escape sequences on a terminal', async () => {
    const body = { serial_log: '\u001b[31mlogin:\u001b[0m\r\n', updated_at: '' };
    replies[`GET /v0.1/projects/p/vms/${ID}/serial-log`] = { status: 200, body };
    expect((await run(['logs', 'trainer'])).stdout).toBe(body.serial_log);
    expect((await run(['logs', 'trainer'], { columns: 80 })).stdout).toBe('login:\n');
  });
});

describe('vm tag', () => {
  const PATH = `/v0.1/projects/p/vms/${ID}`;

  it('sets and removes tags, and repeats the change if another one came first', async () => {
    let tags: Record<string, string> = { env: 'prod', old: '1' };
    replies[`GET ${PATH}`] = () => ({
      ...{ status: 200, headers: { etag: JSON.stringify(tags) }, body: { ...vm, tags } },
    });
    let isFirst = true;
    replies[`PATCH ${PATH}`] = ({ ifMatch, body }) => {
      // Another client changes the VM between the read and the write.
      if (isFirst) tags = { ...tags, other: 'kept' };
      isFirst = false;
      if (ifMatch !== JSON.stringify(tags)) return refusal(412, 'precondition_failed');
      tags = JSON.parse(body).tags;
      return { status: 200, body: { operation: operation('SUCCEEDED', { ...vm, tags }) } };
    };
    const { code, stdout } = await run(['tag', 'trainer', 'env=test', 'note=a=b', 'old-']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Tags +env=test other=kept note=a=b\n/);
    expect(tags).toEqual({ env: 'test', other: 'kept', note: 'a=b' });
  });

  it('refuses what is no change, and asks the server nothing', async () => {
    for (const change of ['env', '=x', '-']) {
      const { code } = await run(['tag', 'trainer', '--', change]);
      expect({ change, code }).toEqual({ change, code: 2 });
    }
    expect((await run(['tag', 'trainer'])).code).toBe(2);
    expect(server.seen).toEqual([]);
  });
});

describe('vm create', () => {
  const flags = ['--type', 'a40.1x', '--location', 'eu-north-a', '--image', 'debian-12'];
  const sent = () =>
    JSON.parse(server.seen.find(({ line }) => line.startsWith('POST'))?.body ?? '');

  beforeEach(async () => {
    replies['POST /v0.1/projects/p/vms'] = {
      status: 200,
      body: { operation: operation('SUCCEEDED', vm) },
    };
    await mkdir(path.join(cli.home, '.ssh'));
    await writeFile(path.join(cli.home, '.ssh/id_ed25519.pub'), 'ssh-ed25519 AAAA me\n');
  });

  it('sends the key of ~/.ssh, tags and scripts, and prints the VM', async () => {
    const script = path.join(cli.home, 'setup.sh');
    await writeFile(script, '#!/bin/sh\n');
    const more = ['--tag', 'env=prod', '--tag', 'note=', '--startup-script', script];
    const { code, stdout } = await run(['create', 'trainer', ...flags, ...more]);
    expect(code).toBe(0);
    expect(stdout).toContain('Name             trainer\n');
    expect(sent()).toEqual({
      ...{ name: 'trainer', type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ...{ ssh_public_key: 'ssh-ed25519 AAAA me', startup_script: '#!/bin/sh\n' },
      tags: { env: 'prod', note: '' },
    });
  });

  it('sends several keys, stored ones by name, and user data', async () => {
    const [key, data] = [path.join(cli.home, 'other.pub'), path.join(cli.home, 'data.yaml')];
    await writeFile(key, 'ssh-ed25519 BBBB me\n');
    await writeFile(data, '#cloud-config\n');
    const keys = ['--ssh-key', 'laptop', '--ssh-key', key];
    await run(['create', 'trainer', ...flags, ...keys, '--user-data', data]);
    expect(sent()).toEqual({
      ...{ name: 'trainer', type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ...{ ssh_keys: ['laptop', 'ssh-ed25519 BBBB me'], user_data: '#cloud-config\n' },
    });
  });

  it('finds a network by its name', async () => {
    const items = [{ id: 'n1', name: 'lab' }];
    replies['GET /v0.1/projects/p/vpc/networks'] = { status: 200, body: { items } };
    await run(['create', 'trainer', ...flags, '--network', 'lab', '--no-public-address']);
    expect(sent().network_interfaces).toEqual([
      { network_id: 'n1', public_ipv4: { type: 'none' } },
    ]);
    const missing = await run(['create', 'trainer', ...flags, '--network', 'home']);
    expect(missing).toMatchObject({ code: 4, stderr: 'gantry: there is no network home\n' });
  });

  it('gets a reserved address by its name, and refuses flags that contradict each other', async () => {
    replies['GET /v0.1/projects/p/vpc/public-addresses'] = {
      ...{ status: 200, body: { items: [{ id: 'a1', name: 'front' }], next_page_token: '' } },
    };
    await run(['create', 'trainer', ...flags, '--public-address', 'front']);
    expect(sent().network_interfaces).toEqual([{ public_ipv4: { type: 'reserved', id: 'a1' } }]);
    const both = ['--public-address', 'front', '--no-public-address'];
    const before = server.seen.length;
    expect((await run(['create', 'trainer', ...flags, ...both])).code).toBe(2);
    expect(server.seen.length).toBe(before);
  });

  it('with --dry-run prints price, room and reason, and creates nothing', async () => {
    const charges = [
      { resource_type: 'a40.1x', quantity: 1, usd_per_hour: 0.5, priced: true },
      { resource_type: 'shared-volume', quantity: 1, usd_per_hour: 0, priced: false },
    ];
    const body = { fits: false, reason: 'no room', usd_per_hour: 0.5, priced: false, charges };
    replies['POST /v0.1/projects/p/vms:validate'] = { status: 200, body };
    const { code, stdout } = await run(['create', 'trainer', ...flags, '--dry-run']);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['Fits now', 'no'],
      ['Reason', 'no room'],
      ['USD per hour', '0.50 or more'],
      ['Charge', 'a40.1x: 0.50'],
      ['Charge', 'shared-volume 1 GB: no price'],
      [''],
    ]);
    expect(sent()).toMatchObject({ name: 'trainer', type: 'a40.1x', location: 'eu-north-a' });
    expect(asked()).not.toContain('POST /v0.1/projects/p/vms');
    const json = await run(['create', 'trainer', ...flags, '--dry-run', '-o', 'json']);
    expect(JSON.parse(json.stdout)).toEqual(body);
  });

  it('attaches disks by name, and creates those with a size', async () => {
    const items = [{ id: 'd1', name: 'data' }];
    replies['GET /v0.1/projects/p/disks'] = { status: 200, body: { items } };
    const disks = ['data,mode=read-only', 'scratch=100GiB,block-size=4096,type=shared-volume'];
    const args = disks.flatMap((disk) => ['--disk', disk]);
    await run(['create', 'trainer', ...flags, ...args]);
    expect(sent().disks).toEqual([
      { disk_id: 'd1', mode: 'read-only' },
      { name: 'scratch', size: '100GiB', block_size: 4096, type: 'shared-volume' },
    ]);
    expect((await run(['create', 'trainer', ...flags, '--disk', 'home'])).code).toBe(4);
  });

  it.each(['=1TiB', 'data=', 'data,readonly', 'data,type=shared-volume'])(
    'refuses the disk %s, and asks the server nothing',
    async (disk) => {
      const { code, stderr } = await run(['create', 'trainer', ...flags, '--disk', disk]);
      expect(code).toBe(2);
      expect(stderr).toContain('disk');
      expect(server.seen).toEqual([]);
    },
  );

  it('never sends a private key', async () => {
    const file = path.join(cli.home, 'key');
    await writeFile(file, '-----BEGIN OPENSSH PRIVATE KEY-----\n');
    const { code, stderr } = await run(['create', 'trainer', ...flags, '--ssh-key', file]);
    expect({ code, stderr }).toEqual({
      ...{ code: 2 },
      stderr: `gantry: --ssh-key: ${file} is a private key. Give the public one: ${file}.pub\n`,
    });
    expect(server.seen).toEqual([]);
  });

  it('names the flag of a file that cannot be read, and what is missing', async () => {
    const { stderr } = await run(['create', 'trainer', ...flags, '--startup-script', '/none']);
    expect(stderr).toContain('gantry: --startup-script: ENOENT');
    const missing = await run(['create', 'trainer', '--type', 'a40.1x']);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('--location');
    expect(server.seen).toEqual([]);
  });

  it('prints the fields that the server refused, and the id of the request', async () => {
    const details = [{ field: 'name', reason: 'must be lower case' }];
    replies['POST /v0.1/projects/p/vms'] = refusal(400, 'bad_request', { details });
    const { code, stderr } = await run(['create', 'Trainer', ...flags]);
    expect(code).toBe(5);
    expect(stderr).toBe(
      'gantry: the message of bad_request\n  name: must be lower case\n  code: bad_request\n  request: e1\n',
    );
  });
});

describe('vm ssh', () => {
  const HOST = [
    ...['-o', `HostKeyAlias=gantry-${ID}`, '-o', 'StrictHostKeyChecking=accept-new'],
    ...['-o', 'ConnectionAttempts=60', '-o', 'ConnectTimeout=60'],
  ];

  /** A program `ssh` that writes down its arguments and ends with the code 7. */
  async function ssh(...args: string[]) {
    const seen = path.join(cli.home, 'ssh-arguments');
    const program = `#!/bin/sh\nprintf '%s\\n' "$@" > '${seen}'\nexit 7\n`;
    await writeFile(path.join(cli.home, 'ssh'), program, { mode: 0o755 });
    const { code, stderr } = await cli.run(['vm', 'ssh', ...args], {
      env: {
        ...{ GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
        PATH: `${cli.home}:${process.env['PATH']}`,
      },
    });
    const passed = await readFile(seen, 'utf8').catch(() => '');
    return { code, stderr, passed: passed.trimEnd().split('\n') };
  }

  it('runs ssh with the address, root and a host key of its own, and returns its exit code', async () => {
    expect(await ssh('trainer')).toEqual({
      ...{ code: 7, stderr: '' },
      passed: [...HOST, '-l', 'root', '--', '203.0.113.5'],
    });
  });

  it('runs a command, as another user and with another key', async () => {
    const flags = ['--user', 'me', '-i', '/key'];
    const { passed } = await ssh('trainer', ...flags, '--', 'nvidia-smi', '-L');
    expect(passed).toEqual([
      ...[...HOST, '-i', '/key', '-l', 'me', '--', '203.0.113.5', 'nvidia-smi', '-L'],
    ]);
  });

  it('uses the key that the VM was created with, until the VM is deleted', async () => {
    const body = { operation: operation('SUCCEEDED', vm) };
    replies['POST /v0.1/projects/p/vms'] = { status: 200, body };
    replies[`DELETE /v0.1/projects/p/vms/${ID}`] = { status: 200, body };
    const key = path.join(cli.home, 'other');
    await writeFile(`${key}.pub`, 'ssh-ed25519 AAAA me\n');
    const flags = ['--type', 'a40.1x', '--location', 'eu-north-a', '--image', 'debian-12'];
    expect((await run(['create', 'trainer', ...flags, '--ssh-key', `${key}.pub`])).code).toBe(0);
    expect((await ssh('trainer')).passed).toEqual([
      ...[...HOST, '-i', key, '-l', 'root', '--', '203.0.113.5'],
    ]);
    await run(['delete', 'trainer']);
    expect((await ssh('trainer')).passed).not.toContain('-i');
  });

  it('uses the key of the home that the VM was created with, also if ssh has another home', async () => {
    const body = { operation: operation('SUCCEEDED', vm) };
    replies['POST /v0.1/projects/p/vms'] = { status: 200, body };
    const home = path.join(cli.home, '.ssh');
    await mkdir(home);
    await writeFile(path.join(home, 'id_ed25519.pub'), 'ssh-ed25519 AAAA me\n');
    const flags = ['--type', 'a40.1x', '--location', 'eu-north-a', '--image', 'debian-12'];
    expect((await run(['create', 'trainer', ...flags])).code).toBe(0);
    const { passed } = await ssh('trainer');
    expect(passed).toContain(path.join(home, 'id_ed25519'));
  });

  it('says what to do about a VM that does not run', async () => {
    const items = [{ ...vm, state: 'STATE_SHUTOFF' }];
    replies['GET /v0.1/projects/p/vms'] = { status: 200, body: { items, next_page_token: '' } };
    expect(await ssh('trainer')).toMatchObject({
      ...{ code: 2, passed: [''] },
      stderr: 'gantry: the VM trainer is shutoff. Try: gantry vm start trainer\n',
    });
  });
});
