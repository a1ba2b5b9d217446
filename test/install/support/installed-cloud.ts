import { documented, documentedLines } from '@gantry/testkit/docs/documented';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import { expect } from 'vitest';
import type { Machine } from './boot-machine.ts';
import { NAMES } from './control-plane-site.ts';

export const LOCATION = 'eu-north-a';
export const VM_TYPE = 'small.1x';
const API_PORT = 8080;
const OPERATOR = {
  operator_email: 'operator@example.com',
  operator_password: 'correct horse battery staple',
};
const SOURCES = '/etc/apt/sources.list.d';
/** An emulated guest on a busy machine. */
const PATIENCE_MS = 300_000;

/** Adds the repository that the proxy serves. apt also asks Debian's servers, which the machine does not reach. */
export async function addRepository(machine: Machine): Promise<void> {
  await machine.run(documented('install.md', 'install -d -m 755 /etc/apt/keyrings'));
}

/** Adds the repository as a folder, for a machine without a proxy. */
export async function addFolder(machine: Machine): Promise<void> {
  const source = 'deb [signed-by=/srv/repository/gantry.asc] file:/srv/repository';
  await machine.run(`echo '${source} stable main' >${SOURCES}/gantry.list`);
  await machine.run(UPDATE_LISTS);
}

/** Reads only the lists of the repository, because the machine does not reach Debian's. */
const UPDATE_LISTS = [
  `apt-get update -o Dir::Etc::sourcelist=$(ls ${SOURCES}/gantry.* | head -n 1)`,
  '-o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0',
].join(' ');

/** apt asks no questions. */
const INSTALL = { 'apt-get install': 'DEBIAN_FRONTEND=noninteractive apt-get install -y' };

/** Installs the control plane as docs/operators/install.md describes it. */
export const installControlPlane = (machine: Machine) =>
  machine.run(documented('install.md', 'apt-get install gantry-control-plane gantry', INSTALL));

export const installAgent = (machine: Machine) =>
  machine.run(documented('install.md', 'apt-get install gantry-agent', INSTALL));

/** Installs what volumes of Ceph need. Returns the findings of doctor, some of which are failures here. */
export async function installForVolumes(machine: Machine): Promise<string> {
  const install = 'apt-get install qemu-block-extra';
  await machine.run(`DEBIAN_FRONTEND=noninteractive ${install} -y`);
  const [first, doctor = ''] = documentedLines(
    'images-and-disks.md',
    'apt-get install qemu-block-extra',
  );
  expect(first).toBe(install);
  return (await machine.attempt(doctor)).output;
}

/** Upgrades everything to the newest version. */
export const upgrade = (machine: Machine) =>
  machine.run(
    documented('install.md', 'apt-get update && ', {
      ...{ 'apt-get update': UPDATE_LISTS },
      ...INSTALL,
    }),
  );

/** The settings of docs/operators/install.md and joining.md. */
const SETTINGS = {
  GANTRY_PUBLIC_URL: `https://${NAMES.control}`,
  GANTRY_TRUSTED_PROXIES: '1',
  GANTRY_FLEET_NAMES: NAMES.fleet,
  GANTRY_APT_SOURCE: `https://${NAMES.packages} stable main`,
  GANTRY_APT_KEY_FILE: '/etc/gantry/apt-key.asc',
  GANTRY_JOIN_SCHEDULERS: `${NAMES.fleet}:7443`,
};

/** Creates the database and the secrets, and starts the control plane. Returns a client of its API. */
export async function setUpControlPlane(machine: Machine): Promise<Client> {
  const statements = [
    `create user gantry password 'password'`,
    'create database gantry owner gantry',
  ];
  // The package of PostgreSQL does not wait until its server accepts connections.
  await expect.poll(async () => (await machine.attempt('pg_isready')).code).toBe(0);
  for (const statement of statements)
    await machine.run('su postgres -c "psql -v ON_ERROR_STOP=1 -q"', `${statement};`);
  await machine.run(documented('install.md', 'cd /etc/gantry/credentials'));
  await machine.run(`cp /srv/repository/gantry.asc ${SETTINGS.GANTRY_APT_KEY_FILE}`);
  await machine.run('cat >>/etc/gantry/gantry.env', linesOf(SETTINGS));
  await machine.run(documented('install.md', 'systemctl start gantry-scheduler gantry-api'));
  const bootstrap = documented('install.md', `echo '{"operator_email"`, {
    'you@example.com': OPERATOR.operator_email,
    '"…"': `"${OPERATOR.operator_password}"`,
  });
  const made = JSON.parse(await machine.run(bootstrap));
  const url = await machine.reach(API_PORT);
  const credentials = { ...made, ...OPERATOR, operator_token: () => login(url) };
  return await connectClient({ credentials }, { url }, { patienceMs: PATIENCE_MS });
}

const linesOf = (settings: Record<string, string>) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

async function login(url: string): Promise<string> {
  const { operator_email: email, operator_password: password } = OPERATOR;
  const response = await fetch(`${url}/v0.1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', email, password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** VMs are emulated, and GPUs are stand-ins, because the machine is a container without KVM and without devices. */
const EMULATED = {
  GANTRY_ACCELERATOR: 'tcg',
  GANTRY_STAND_IN_DEVICES: '1',
  GANTRY_SYSFS_ROOT: '/srv/sys',
  GANTRY_STORAGE_OVERCOMMIT_PERCENT: '100000',
};

async function createToken(client: Client) {
  const makeToken = async () =>
    (await client.admin('POST', '/join-tokens', { location: LOCATION })).body;
  // The first scheduler makes the authority of the fleet.
  await expect
    .poll(makeToken)
    .toMatchObject({ ca_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  return await makeToken();
}

/**
 * Pastes the line of a token twice. The first time it installs the agent and stops, because the machine has no KVM and
 * says so; the second time, with the settings for emulation, it makes the machine a host.
 */
export async function joinByLine(machine: Machine, client: Client): Promise<void> {
  const { join_line } = await createToken(client);
  expect(join_line).toMatch(/^curl -fsSL https:\S+ \| sudo sh$/);
  const first = await machine.attempt(join_line);
  expect(first).toMatchObject({ code: 1, output: expect.stringContaining('KVM does not work') });
  expect(first.output).toContain('correct the failures above, then paste the line again');
  await machine.run('cat >>/etc/gantry/agent.env', linesOf(EMULATED));
  // The container has no hugepages either, which no setting replaces: doctor's failures are ignored as the script says.
  const ignoring = join_line.replace('sudo sh', 'sudo GANTRY_JOIN_IGNORE_DOCTOR=1 sh');
  const second = await machine.attempt(ignoring);
  expect(second).toMatchObject({ code: 0, output: expect.stringContaining(' is ready\n') });
}

/** Enrols a machine that has the agent, and starts it, as docs/operators/install.md describes it. */
export async function joinByCommands(machine: Machine, client: Client): Promise<void> {
  const { token, ca_sha256 } = await createToken(client);
  const settings = { GANTRY_SCHEDULERS: SETTINGS.GANTRY_JOIN_SCHEDULERS, ...EMULATED };
  await machine.run('cat >>/etc/gantry/agent.env', linesOf(settings));
  const commands = documented('install.md', 'gantry-agent enroll', {
    '--token …': `--token ${token}`,
    '--ca-sha256 …': `--ca-sha256 ${ca_sha256}`,
  });
  await machine.run(commands);
}

/** Offers a VM type and the tiny guest as an image. */
export async function offerImage(client: Client, sha256: string): Promise<void> {
  const type = {
    ...{ name: VM_TYPE, description: 'One core', locations: [LOCATION] },
    ...{ cpu_cores: 1, cpu_type: 'any', memory_gb: 1, memory_type: 'any' },
    ...{ disk_gb: 0, disk_type: 'none', disk_count: 0, network_gbps: 0 },
    ...{ gpu_count: 1, gpu_type: 'A40 48GB PCIe' },
  };
  expect(await client.admin('POST', '/vm-types', type)).toMatchObject({ status: 200 });
  const image = { name: 'tiny', sha256, source_url: 'file:///srv/tiny.raw', locations: [LOCATION] };
  expect(await client.admin('POST', '/images', image)).toMatchObject({ status: 200 });
}

export async function readHost(client: Client) {
  const { body } = await client.admin('GET', '/hosts');
  return body.items.find(({ name }: { name: string }) => name === 'machine');
}
