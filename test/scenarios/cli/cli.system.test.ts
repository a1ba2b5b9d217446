import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { StreamedEvent } from '@gantry/sdk';
import { startScriptedServer } from '@gantry/sdk/testing/scripted-server';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import {
  type Api,
  type Processes,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOnTerminal } from './on-terminal.ts';
import { bundle, followEvents, root, runBundle } from './run-bundle.ts';

/** The CLI as a process, against processes: api, scheduler and simulated hosts, with PostgreSQL. */
let processes: Processes;
let api: Api;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'gantry-cli-'));
  await writeFile(path.join(home, 'key.pub'), SSH_PUBLIC_KEY);
  processes = await startProcesses();
  api = await processes.startApi();
  const schedulers = [await processes.startScheduler()];
  await processes.startFleet({
    ...{ name: 'eu', hosts: 'eu-north-a:a40-8=1', schedulers, api },
    env: { GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_ERASE_MS: '20' },
  });
});
afterAll(async () => {
  await processes?.stop();
  await rm(home, { recursive: true, force: true });
});

const gantry = (...args: string[]) => runBundle(args, { home });
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await gantry(...args, '--output', 'json');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};
const NEW_VM = ['--type', 'a40.1x', '--location', 'eu-north-a', '--image', 'debian-12'];
const createArgs = (name: string) => [
  ...['vm', 'create', name, ...NEW_VM, '--ssh-key', path.join(home, 'key.pub')],
];

describe('a login', () => {
  it('with an access key is used by the commands after it', async () => {
    const args = ['login', '--server', api.url, '--access-key', '--context', 'tenant'];
    const input = processes.credentials.access_key;
    expect(await runBundle(args, { home, input })).toEqual({
      ...{ code: 0, stdout: `Logged in to ${api.url}. The context is tenant.\n`, stderr: '' },
    });
    const { project_id } = processes.credentials;
    expect(await json('context', 'show')).toMatchObject({ name: 'tenant', project_id });
  });

  it('with a password works beside it, and a wrong password is refused', async () => {
    const { operator_email, operator_password } = processes.credentials;
    const args = ['login', '--server', api.url, '--email', operator_email, '--context', 'operator'];
    const wrong = await runBundle(args, { home, input: 'not the password\n' });
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toMatch(/code: bad_credential\n {2}request: [0-9a-f-]{36}\n/);
    expect((await runBundle(args, { home, input: `${operator_password}\n` })).code).toBe(0);
    expect((await gantry('context', 'use', 'tenant')).code).toBe(0);
    const names = (await json('context', 'list')).map(({ name }: { name: string }) => name);
    expect(names).toEqual(['tenant', 'operator']);
  });
});

describe('a VM', () => {
  it('is created with --wait, listed, shown as JSON, stopped and deleted', async () => {
    const created = await gantry(...createArgs('trainer'), '--wait', '--tag', 'env=prod');
    expect(created).toMatchObject({ code: 0 });
    expect(created.stderr).toMatch(/^create trainer: in progress\n.*create trainer: succeeded\n$/s);
    const list = await gantry('vm', 'list', '--tag', 'env=prod', '--state', 'running');
    expect(list.stdout).toMatch(/^NAME .*\ntrainer +running +a40\.1x +eu-north-a .*env=prod\n$/);
    const vm = await json('vm', 'show', 'trainer');
    expect(vm).toMatchObject({ name: 'trainer', state: 'STATE_RUNNING', tags: { env: 'prod' } });
    expect((await gantry('vm', 'stop', 'trainer')).code).toBe(0);
    expect(await json('vm', 'show', vm.id)).toMatchObject({ state: 'STATE_SHUTOFF' });
    expect((await gantry('vm', 'delete', 'trainer')).code).toBe(0);
    expect((await gantry('vm', 'show', 'trainer')).code).toBe(4);
    expect(await json('vm', 'list')).toEqual([]);
  });

  it('is only requested with --no-wait', async () => {
    const operation = await json(...createArgs('later'), '--no-wait');
    expect(operation).toMatchObject({ state: 'IN_PROGRESS', metadata: { type: 'vm' } });
    expect((await gantry('vm', 'delete', 'later')).code).toBe(0);
  });

  it('that cannot be created is reported with the code, the field and the request', async () => {
    const refused = await gantry(...createArgs('Not-a-name'));
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toMatch(/^gantry: name: .+\n {2}code: bad_request\n {2}request: /);
    expect((await gantry(...createArgs('small'))).code).toBe(0);
    const failed = await gantry(...createArgs('big').map((arg) => arg.replace('.1x', '.8x')));
    expect(failed).toMatchObject({ code: 6, stdout: '' });
    expect(failed.stderr).toMatch(/code: out_of_stock\n {2}operation: [0-9a-f-]{36}\n$/);
    expect((await gantry('vm', 'delete', 'small')).code).toBe(0);
  });
});

it('a console is used on a terminal, which is as before afterwards', async () => {
  const network = ['--network', 'default-vpc-network'];
  expect((await gantry('key', 'add', 'laptop', path.join(home, 'key.pub'))).code).toBe(0);
  const created = ['vm', 'create', 'serial', ...NEW_VM, '--ssh-key', 'laptop', ...network];
  expect((await gantry(...created)).code).toBe(0);
  const command = `stty -g; ${process.execPath} ${bundle} vm console serial; echo "code $?"; stty -g`;
  const printed = await runOnTerminal(command, {
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home },
    dialogue: [
      ['to leave.', 'echo from-the-guest\r'],
      ['\nfrom-the-guest', '~.'],
    ],
  });
  expect(printed).toMatch(/\r\nThe console is closed\.\r\ncode 0\r\n/);
  const modes = [...printed.matchAll(/^[0-9a-f]+(?::[0-9a-f]+)+/gm)].map(([mode]) => mode);
  expect(modes).toHaveLength(2);
  expect(modes[1]).toBe(modes[0]);
  expect(
    (await gantry('firewall', 'trace', '198.51.100.7', 'serial', '--port', '22')).stdout,
  ).toMatch(/^STEP .*\ningress .* yes +default-allow-ssh\nThe connection is allowed\.\n$/);
  expect((await gantry('vm', 'delete', 'serial')).code).toBe(0);
  expect((await gantry('key', 'remove', 'laptop')).code).toBe(0);
});

it('a VM gets a network, disks and a reserved address, and everything is taken apart again', async () => {
  const place = ['--network', 'lab', '--cidr', '10.20.1.0/24', '--location', 'eu-north-a'];
  await json('network', 'create', 'lab', '--cidr', '10.20.0.0/16');
  await json('network', 'subnet', 'create', 'lab-a', ...place);
  const address = await json('address', 'reserve', 'front', '--location', 'eu-north-a');
  await json('disk', 'create', 'data', '--size', '1GiB', '--location', 'eu-north-a');
  const chosen = [
    ...['--subnet', 'lab-a', '--public-address', 'front'],
    ...['--disk', 'data', '--disk', 'scratch=2GiB,block-size=4096'],
  ];
  const estimate = await json(...createArgs('web'), ...chosen, '--dry-run');
  expect(estimate).toMatchObject({ fits: true, reason: '' });
  expect(await json('vm', 'list')).toEqual([]);
  const vm = await json(...createArgs('web'), ...chosen);
  expect(vm).toMatchObject({ name: 'web', ssh_destination: address.address });
  const names = vm.disks.map((disk: { name: string }) => disk.name);
  expect(names).toEqual(expect.arrayContaining(['data', 'scratch']));
  // Of changes at the same time none is lost.
  const changes = ['a=1', 'b=2', 'c=3'].map((change) => gantry('vm', 'tag', 'web', change));
  for (const { code } of await Promise.all(changes)) expect(code).toBe(0);
  const tagged = await json('vm', 'tag', 'web', 'a-');
  expect(tagged.tags).toEqual({ b: '2', c: '3' });
  const steps = [
    ...['disk detach scratch', 'disk attach scratch web', 'vm stop web', 'address detach front'],
    ...['address rename front back', 'address attach back web', 'vm delete web'],
    ...['address release back', 'disk delete scratch', 'disk delete data'],
    ...['network subnet delete lab-a', 'network rename lab home', 'network delete home'],
  ];
  for (const step of steps) {
    const { code, stderr } = await gantry(...step.split(' '));
    expect({ step, code, stderr: code === 0 ? '' : stderr }).toEqual({ step, code: 0, stderr: '' });
  }
  expect(await json('address', 'list')).toEqual([]);
  expect((await gantry('network', 'show', 'home')).code).toBe(4);
});

it('an operator sees the fleet, drains a host, adds one, and logs out', async () => {
  const operator = (...args: string[]) => gantry(...args, '--context', 'operator');
  const [host] = JSON.parse((await operator('host', 'list', '-o', 'json')).stdout);
  expect(await operator('doctor')).toMatchObject({ code: 0 });
  const explain = ['explain', '--type', 'a40.8x', '--location', 'eu-north-a'];
  expect((await operator(...explain)).stdout).toContain(`would be placed on ${host.name} with `);
  expect((await operator('host', 'label', host.name, 'rack=r1')).stdout).toMatch(/Labels +rack=r1/);
  expect((await operator('drain', host.name)).stdout).toContain('Remaining VMs  0\n');
  expect((await operator(...explain)).stdout).toMatch(/schedulable +0\n.*No host has room/s);
  expect((await operator('host', 'uncordon', host.name)).code).toBe(0);
  const device = `${host.name}/${host.gpus[0].pci_address}`;
  const quarantine = ['device', 'quarantine', device, '--reason', 'it smells'];
  expect((await operator(...quarantine)).stdout).toContain('Quarantine   it smells\n');
  expect((await operator('device', 'release', device)).code).toBe(0);
  expect((await operator('join', '--location', 'eu-north-a')).stdout).toMatch(
    /^curl -fsSL http:\/\/127\.0\.0\.1:\d+\/join\/gantry_jt_\S+ \| sudo sh\n$/,
  );
  expect((await operator('tenant', 'list')).stdout).toContain('STANDING');
  const key = ['mine', path.join(home, 'key.pub')];
  expect((await operator('key', 'add', ...key, '--own')).stdout).toContain('SHA256:');
  expect((await operator('key', 'list', '--own')).stdout).toContain('mine');
  expect((await operator('key', 'remove', 'mine', '--own')).code).toBe(0);
  expect((await operator('logout')).code).toBe(0);
  expect((await operator('host', 'list')).code).toBe(3);
});

it('the sessions of docs/tenants/cli.md print what the page says', async () => {
  const page = await readFile(path.join(root, 'docs/tenants/cli.md'), 'utf8');
  // A login needs the address of this server.
  const sessions = page.matchAll(/```\n(\$ gantry (?!login).*?)```/gs);
  const steps = [...sessions].flatMap(([, session = '']) => session.split(/^\$ gantry /m).slice(1));
  await mkdir(path.join(home, '.ssh'));
  await writeFile(path.join(home, '.ssh/id_ed25519.pub'), SSH_PUBLIC_KEY);
  expect(steps.length).toBeGreaterThan(3);
  for (const step of steps) {
    const [command = '', ...printed] = step.split('\n');
    const { stdout, stderr } = await gantry(...command.split(' '));
    expect(alike(stderr + stdout)).toEqual(alike(printed.join('\n')));
  }
});

/** Leaves out what differs from run to run: ids, addresses, times, widths, free GPUs, steps in between. */
function alike(printed: string): string[] {
  return printed
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d+\.\d+\.\d+\.\d+/g, '<address>')
    .replaceAll(/^(a40\.1x +eu-north-a +)\d+/gm, '$1<count>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '<time>')
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' ').trim())
    .filter((line) => line !== '' && !line.endsWith(': placed'));
}

describe('completion', () => {
  /** Each prints what the shell completes `gantry disk delete sh` with. */
  const WORDS = ['gantry', 'disk', 'delete', 'sh'];
  const DRIVERS = {
    bash: `source <(gantry completion bash); COMP_WORDS=(${WORDS.join(' ')}); COMP_CWORD=3
      _gantry; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // Its own completion needs a terminal; the function that adds matches is replaced.
    zsh: `compdef() { : }; compadd() { print -l $found }; source <(gantry completion zsh)
      words=(${WORDS.join(' ')}); CURRENT=4; _gantry`,
    fish: `gantry completion fish | source; complete -C '${WORDS.join(' ')}' | cut -f1`,
  };
  const SIZE = ['--size', '1GiB', '--location', 'eu-north-a'];
  const disks = ['shelf', 'shoe', 'box'];

  beforeAll(async () => {
    await mkdir(path.join(home, 'bin'));
    await symlink(bundle, path.join(home, 'bin/gantry'));
    for (const name of disks) await gantry('disk', 'create', name, ...SIZE);
  });
  afterAll(async () => {
    for (const name of disks) await gantry('disk', 'delete', name);
  });

  it.for(Object.entries(DRIVERS))(
    'in %s has the names of the server',
    async ([shell, script], { skip }) => {
      const PATH = `${path.join(home, 'bin')}:${process.env['PATH']}`;
      const env = { PATH, HOME: home, XDG_CONFIG_HOME: home };
      const run = promisify(execFile)(shell, ['-c', script], { env });
      const { stdout } = await run.catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return skip(`${shell} is not installed`);
        throw error;
      });
      expect(stdout.trim().split('\n')).toEqual(['shelf', 'shoe']);
    },
  );
});

it('events are followed, and later continued after an id', async () => {
  const seen: StreamedEvent[] = [];
  const following = followEvents(home, (event) => seen.push(event));
  await expect.poll(() => seen[0]?.type).toBe('ready');
  expect(
    (await gantry('disk', 'create', 'data', '--size', '1GiB', '--location', 'eu-north-a')).code,
  ).toBe(0);
  const isEnd = ({ data }: StreamedEvent) => data['step'] === 'ended';
  await expect.poll(() => seen.some(isEnd)).toBe(true);
  expect(await following.stop()).toBe(130);
  const later: StreamedEvent[] = [];
  const continued = followEvents(home, (event) => later.push(event), seen[0]?.id);
  await expect.poll(() => later.some(isEnd)).toBe(true);
  expect(await continued.stop()).toBe(130);
  const ids = (events: StreamedEvent[]) =>
    events.slice(0, events.findIndex(isEnd) + 1).map(({ id }) => id);
  expect(ids(later)).toEqual(ids(seen).slice(1));
  expect((await gantry('disk', 'delete', 'data')).code).toBe(0);
});

it('Ctrl-C ends the wait, says how to go on, and leaves the operation running', async () => {
  const operation = {
    ...{ operation_id: 'o1', state: 'IN_PROGRESS', result: null, completed_at: '' },
    metadata: { operation_name: 'STOP', id: 'v1', type: 'vm', request: {} },
  };
  const server = await startScriptedServer(({ line }) => {
    if (line === 'GET /v0.1') return { status: 200, body: { project_id: 'p' } };
    if (line.includes('?names='))
      return { status: 200, body: { items: [{ id: 'v1', name: 'a' }] } };
    return { status: 200, body: line.startsWith('PATCH') ? { operation } : operation };
  });
  try {
    const { code, stderr } = await runBundle(['vm', 'stop', 'a'], {
      home,
      env: { GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
      interruptAt: 'in progress',
    });
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr:
        'stop a: in progress\ngantry: stopped waiting. The operation goes on: gantry operation show o1\n',
    });
    expect(server.seen.some(({ line }) => line.startsWith('DELETE'))).toBe(false);
  } finally {
    await server.stop();
  }
});
