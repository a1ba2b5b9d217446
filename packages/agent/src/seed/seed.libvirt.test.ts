import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VmSpec } from '../spec.ts';
import { makeInterface, makeVm } from '../testing/make-spec.ts';
import { createSeeds } from './iso-seeds.ts';
import { renderSeedFiles } from './nocloud.ts';

const exec = promisify(execFile);

const ID = '0198c5a2-7d4e-7b11-9c3f-1f2e3d4c5b6a';
const MAC = '02:00:00:00:00:0a';
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVl me@h\u00f6me';
const OPTIONS = { nameservers: ['10.0.0.2'], mtu: 1450 };

/** Fails, speaks on both outputs and leaves something behind that holds them open. */
const STARTUP = `#!/bin/bash
echo "first boot: $HOME $PWD $(umask) 'quoted' \u{1f600}"
echo 'to stderr' >&2
sleep 1000 &
exit 3
`;
const SHUTDOWN = '#!/bin/sh\necho "saying goodbye"\n';

const vm = makeVm(ID, {
  name: 'trainer-1',
  sshPublicKey: KEY,
  startupScript: STARTUP,
  shutdownScript: SHUTDOWN,
  interfaces: [makeInterface('a', { mac: MAC })],
});
/** The same VM after it was renamed and moved to another address; its script changed, too. */
const later = {
  ...vm,
  name: 'trainer-2',
  startupScript: '#!/bin/sh\necho second\n',
  interfaces: [
    makeInterface('a', { mac: MAC, privateIpv4: '10.7.0.9/20', gatewayIpv4: '10.7.0.1' }),
  ],
};

const TENANT_KEY = KEY.replace('me@h\u00f6me', 'tenant');
/** Sets everything that ours sets too, with values of its own. */
const USER_DATA = `#cloud-config
ssh_authorized_keys: ["${TENANT_KEY}"]
users: [default, {name: ada, ssh_authorized_keys: ["${TENANT_KEY}"]}]
write_files: [{path: /root/of-tenant, content: "written "}]
runcmd: ["echo run >> /root/of-tenant"]
`;

let root: string;
const seedOf = async (name: string, spec: VmSpec) => {
  const seeds = createSeeds({
    ...OPTIONS,
    directory: join(root, name),
    nameservers: async () => OPTIONS.nameservers,
  });
  await seeds.ensure(spec);
  return seeds.path(spec.id);
};
const readAll = async (folder: string) => {
  const names = await readdir(folder);
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
};
const expected = Object.fromEntries(
  renderSeedFiles(vm, OPTIONS).map(({ name, content }) => [name, content.toString()]),
);
/** By Debian's reader of images; `any` prefers Rock Ridge, `norock` leaves it Joliet. */
const extract = async (image: string, { to, by }: { to: string; by: 'any' | 'norock' }) => {
  await exec('xorriso', ['-read_fs', by, '-osirrox', 'on', '-indev', image, '-extract', '/', to]);
  return to;
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-seed-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('a seed as an image', () => {
  it('shows exact names and contents to other readers, by Rock Ridge and by Joliet', async () => {
    const image = await seedOf('image', vm);
    for (const by of ['any', 'norock'] as const) {
      expect(await readAll(await extract(image, { to: join(root, by), by }))).toEqual(expected);
    }
  });

  it('is found by its label, as cloud-init looks for it', async () => {
    const image = await seedOf('label', vm);
    const { stdout } = await exec('blkid', ['-p', '-o', 'export', image]);
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['LABEL=cidata', 'TYPE=iso9660']));
  });
});

describe('cloud-init', () => {
  it.each([
    ['everything', vm],
    ['nothing', makeVm(ID, { name: '', interfaces: [] })],
    ['user data', makeVm(ID, { userData: USER_DATA, sshPublicKey: KEY })],
  ])('accepts the settings of a VM with %s', async (what, spec) => {
    const image = await seedOf(`schema-${what}`, spec);
    const folder = await extract(image, { to: join(root, `schema-${what}-files`), by: 'any' });
    const file = spec.userData === '' ? 'user-data' : 'vendor-data';
    const { stdout } = await exec('cloud-init', [
      ...['schema', '--config-file', join(folder, file)],
    ]);
    expect(stdout).toMatch(/^Valid /m);
  });

  it.each([
    ['netplan', 'debian', ['- 10.0.0.5/24', 'to: 0.0.0.0/0', 'via: 10.0.0.1', '- 10.0.0.2']],
    ['networkd', 'debian', ['Address=10.0.0.5/24', 'Gateway=10.0.0.1', 'DNS=10.0.0.2']],
    ['eni', 'debian', ['address 10.0.0.5/24', 'default gw 10.0.0.1', 'dns-nameservers 10.0.0.2']],
    ['sysconfig', 'rhel', ['IPADDR=10.0.0.5', 'GATEWAY=10.0.0.1', 'DNS1=10.0.0.2']],
  ])('renders the address, gateway and name server for %s', async (kind, distro, lines) => {
    const image = await seedOf(kind, vm);
    const files = await extract(image, { to: join(root, `${kind}-files`), by: 'any' });
    const output = join(root, `${kind}-output`);
    await exec('cloud-init', [
      ...['devel', 'net-convert', '--kind', 'yaml', '--output-kind', kind, '--distro', distro],
      ...['--network-data', join(files, 'network-config'), '--directory', output],
      ...['--mac', `eth0,${MAC}`],
    ]);
    const { stdout } = await exec('grep', ['-rh', '', output]);
    for (const line of [...lines, '1450']) expect(stdout).toContain(line);
  });
});

/** Boots twice from seeds of the VM with this user data, and returns what each boot left. */
async function bootTwice(kind: string, userData: string) {
  const within = (name: string) => join(root, `${kind}-${name}`);
  const [one, two] = await Promise.all([
    seedOf(`${kind}-one`, { ...vm, userData }),
    seedOf(`${kind}-two`, { ...later, userData }),
  ]);
  const results = within('results');
  await mkdir(results);
  await exec('unshare', [
    ...['--mount', '--uts', '--net', '--pid', '--fork'],
    ...['sh', fileURLToPath(new URL('testing/boot-twice.sh', import.meta.url))],
    await extract(one, { to: within('one-files'), by: 'any' }),
    await extract(two, { to: within('two-files'), by: 'any' }),
    ...[results, MAC],
  ]);
  return {
    first: await readAll(join(results, 'first')),
    second: await readAll(join(results, 'second')),
    after: (name: string) => readFile(join(results, name), 'utf8'),
  };
}

describe.each([
  ['without', ''],
  ['with', USER_DATA],
])('two boots of cloud-init from seeds of one VM %s user data', (kind, data) => {
  let first: Record<string, string>;
  let second: Record<string, string>;
  let after: (name: string) => Promise<string>;

  beforeAll(async () => {
    ({ first, second, after } = await bootTwice(kind, data));
  });

  it('use the NoCloud data source, and the first reports the failed script', () => {
    expect(JSON.parse(first['result'] ?? '')).toMatchObject({
      v1: { datasource: expect.stringContaining('NoCloud'), errors: [expect.anything()] },
    });
    expect(JSON.parse(second['result'] ?? '')).toMatchObject({ v1: { errors: [] } });
  });

  it('accept the key for the default user and for root', () => {
    expect(first['user-keys']).toContain(`${KEY}\n`);
    // With disable_root the line would begin with a command that turns people away.
    expect(first['root-keys']?.split('\n')).toContain(KEY);
  });

  it('follow user data, whose keys, files and commands do not replace ours', () => {
    const hasData = data !== '';
    expect(first['user-keys']?.split('\n').includes(TENANT_KEY)).toBe(hasData);
    expect(first['root-keys']?.split('\n').includes(TENANT_KEY)).toBe(hasData);
    for (const boot of [first, second])
      expect(boot['of-tenant']).toBe(hasData ? 'written run\n' : undefined);
  });

  it('run the startup script only at the first, with its output on the console and in its log', () => {
    const lines = [
      'gantry: the startup script begins',
      "first boot: /root / 0022 'quoted' \u{1f600}",
      'to stderr',
      'gantry: the startup script ended with status 3',
    ];
    expect(first['startup-log']?.trimEnd().split('\n')).toEqual(lines);
    for (const line of lines) expect(first['output']).toContain(line);
    expect(second['startup-log']).toBe(first['startup-log']);
    expect(second['output']).not.toContain('gantry:');
  });

  it('configure the interface with its MAC, and again if its address changed', () => {
    expect(first['links']).toMatch(new RegExp(`: eth0@.*${MAC}`));
    expect(first['network']).toContain('Address=10.0.0.5/24');
    expect(second['network']).toContain('Address=10.7.0.9/20');
    expect(second['network']).toContain('Gateway=10.7.0.1');
  });

  it('give the guest its name, also a new one', () => {
    expect(first['hostname']).toBe('trainer-1\n');
    expect(second['hostname']).toBe('trainer-2\n');
  });

  it('enable a unit without systemd warnings, whose stop runs the shutdown script', async () => {
    expect(await after('unit')).toBe('/etc/systemd/system/gantry-shutdown.service\n');
    expect(await after('verify')).not.toMatch(/gantry-shutdown/);
    const lines = [
      'gantry: the shutdown script begins',
      'saying goodbye',
      'gantry: the shutdown script ended with status 0',
    ];
    expect((await after('shutdown-log')).trimEnd().split('\n')).toEqual(lines);
    expect((await after('shutdown-console')).trimEnd().split('\n')).toEqual(lines);
  });
});

it('user data without the user of the image leaves the keys of root, and the scripts', async () => {
  const { first } = await bootTwice('own-users', '#cloud-config\nusers: [{name: ada}]\n');
  expect(first).not.toHaveProperty('user-keys');
  expect(first['root-keys']?.split('\n')).toContain(KEY);
  expect(first['startup-log']).toContain('first boot');
});
