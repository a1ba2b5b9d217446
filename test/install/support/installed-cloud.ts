import { type Client, connectClient } from '@gantry/testkit/processes/client';
import { expect } from 'vitest';
import type { Machine } from './boot-machine.ts';

export const LOCATION = 'eu-north-a';
export const VM_TYPE = 'small.1x';
const API_PORT = 8080;
const OPERATOR = {
  operator_email: 'operator@example.com',
  operator_password: 'correct horse battery staple',
};
const SCHEDULER = 'localhost:7443';
/** An emulated guest on a busy machine. */
const PATIENCE_MS = 300_000;

/** Adds the repository as docs/operators/install.md describes it. */
export async function addRepository(machine: Machine): Promise<void> {
  const source = [
    ...['Types: deb', 'URIs: file:/srv/repository', 'Suites: stable', 'Components: main'],
    'Signed-By: /etc/apt/keyrings/gantry.asc',
  ];
  // The machine is removed in the end, so dpkg need not wait for its disk.
  await machine.run('echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/test');
  await machine.run('install -D -m 644 /srv/repository/gantry.asc /etc/apt/keyrings/gantry.asc');
  await machine.run('cat >/etc/apt/sources.list.d/gantry.sources', `${source.join('\n')}\n`);
  await updateLists(machine);
}

/** Reads only the lists of the repository, because the machine does not reach Debian's. */
export async function updateLists(machine: Machine): Promise<void> {
  const only = 'Dir::Etc::sourcelist=/etc/apt/sources.list.d/gantry.sources';
  const others = '-o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0';
  await machine.run(`apt-get update -o ${only} ${others}`);
}

export const install = (machine: Machine, packages: string) =>
  machine.run(
    `DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages}`,
  );

/** Creates the database and the secrets, and starts the control plane. Returns a client of its API. */
export async function setUpControlPlane(machine: Machine): Promise<Client> {
  const sql = `create user gantry password 'secret'; create database gantry owner gantry;`;
  for (const statement of sql.split(';').filter((each) => each.trim() !== ''))
    await machine.run(`su postgres -c "psql -v ON_ERROR_STOP=1 -q"`, `${statement};`);
  await machine.run(`cd /etc/gantry/credentials && umask 077
    echo postgres://gantry:secret@127.0.0.1:5432/gantry >DATABASE_URL
    head -c 33 /dev/urandom | base64 >GANTRY_SECRET_KEY
    head -c 33 /dev/urandom | base64 >GANTRY_FLEET_KEY`);
  await machine.run('systemctl start gantry-scheduler gantry-api');
  const names = { ...OPERATOR, organization: 'us', project: 'first' };
  const made = JSON.parse(
    await machine.run('gantry-control-plane bootstrap', JSON.stringify(names)),
  );
  const url = await machine.reach(API_PORT);
  await untilReady(url);
  const credentials = { ...made, ...OPERATOR, operator_token: () => login(url) };
  return await connectClient({ credentials }, { url }, { patienceMs: PATIENCE_MS });
}

async function untilReady(url: string): Promise<void> {
  const status = () => fetch(`${url}/readyz`).then(({ status }) => status, String);
  await expect.poll(status).toBe(200);
}

async function login(url: string): Promise<string> {
  const { operator_email: email, operator_password: password } = OPERATOR;
  const response = await fetch(`${url}/v0.1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', email, password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/**
 * Enrols the machine and starts its agent. VMs are emulated, and GPUs are stand-ins, because the machine
 * is a container without KVM and without devices.
 */
export async function join(machine: Machine, client: Client): Promise<void> {
  const makeToken = async () =>
    (await client.admin('POST', '/join-tokens', { location: LOCATION })).body;
  // The first scheduler makes the authority of the fleet.
  await expect
    .poll(makeToken)
    .toMatchObject({ ca_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const { token, ca_sha256 } = await makeToken();
  const settings = {
    GANTRY_SCHEDULERS: SCHEDULER,
    GANTRY_ACCELERATOR: 'tcg',
    GANTRY_STAND_IN_DEVICES: '1',
    GANTRY_SYSFS_ROOT: '/srv/sys',
    GANTRY_STORAGE_OVERCOMMIT_PERCENT: '100000',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await machine.run('cat >>/etc/gantry/agent.env', lines.join(''));
  const proof = `--token ${token} --ca-sha256 ${ca_sha256}`;
  await machine.run(`gantry-agent enroll --server ${SCHEDULER} --name machine ${proof}`);
  await machine.run('systemctl start gantry-agent');
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
