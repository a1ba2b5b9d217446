import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadIdentity } from '@gantry/agent/identity/state-files';
import { createLog } from '@gantry/daemon/log';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import { loadFleet } from '@gantry/proto/load';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { inventoryOfHost, simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { documented } from '@gantry/testkit/docs/documented';
import { MemoryLedger } from '@gantry/testkit/hosts/memory-ledger';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import {
  type Api,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/**
 * The script behind the line that operators paste, in a mount namespace whose /etc and /var/lib are copies. The api
 * (behind a proxy with TLS), the scheduler, curl, the shell and the enrolment are real. apt-get, dpkg-query and
 * systemctl are recorders, and `doctor` exits with a status that the test chooses.
 *
 * To run the script in a booted system instead, give the api GANTRY_APT_SOURCE and GANTRY_APT_KEY_FILE of a repository
 * that the system reaches, create a token with POST /v0.1/admin/join-tokens, and run `join_line` of the reply there,
 * without sudo as root. GANTRY_JOIN_IGNORE_DOCTOR=1 joins where KVM does not work. The exit status is 0 when the host
 * is ready.
 */
const AGENT = path.resolve(import.meta.dirname, '../../packages/agent/dist/main.mjs');
const KEY = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----';
const SOURCE = 'https://apt.example.test/gantry stable main';

let processes: Processes;
let scheduler: Scheduler;
let api: Api;
let proxy: Server;
let client: Client;
let shared: string;
let server: string;
let hosts: SimulatedHost[];

beforeAll(async () => {
  shared = await mkdtemp(path.join(tmpdir(), 'gantry-join-'));
  await writeFile(path.join(shared, 'key.asc'), `${KEY}\n`);
  processes = await startProcesses();
  scheduler = await processes.startScheduler();
  proxy = await startTlsProxy(() => api.url);
  api = await processes.startApi({
    GANTRY_PUBLIC_URL: `https://localhost:${(proxy.address() as AddressInfo).port}`,
    GANTRY_APT_SOURCE: SOURCE,
    GANTRY_APT_KEY_FILE: path.join(shared, 'key.asc'),
    GANTRY_JOIN_SCHEDULERS: `localhost:${scheduler.port}`,
  });
  client = await connectClient(processes, api);
});
afterAll(async () => {
  proxy?.close();
  await processes?.stop();
  await rm(shared, { recursive: true, force: true });
});

beforeEach(async () => {
  hosts = [];
  server = await makeServer();
});
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
});

/** Terminates TLS in front of the api, as in production. */
async function startTlsProxy(target: () => string): Promise<Server> {
  const authority = loadAuthority(makeAuthority());
  const issued = issueServerCertificate(authority, { names: ['localhost'], ttlMs: 3_600_000 });
  await writeFile(path.join(shared, 'tls-ca.pem'), authority.certificatePem);
  const listening = createServer(
    { key: issued.privateKeyPem, cert: issued.chainPem },
    (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const passed = httpRequest(`${target()}${url}`, { method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      });
      incoming.pipe(passed);
    },
  );
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return listening;
}

const RECORDERS = {
  'apt-get': 'case "$*" in *" install "*) echo 0.1.0 > "$files/installed" ;; esac',
  'dpkg-query':
    '[ -f "$files/installed" ] || exit 1; printf "installed %s" "$(cat "$files/installed")"',
  systemctl: 'case "$1" in is-failed) exit 1 ;; esac',
  'gantry-agent': `case "$1" in doctor) echo 'warn  iommu: it is "off" -> turn it on'; exit "$(cat "$files/doctor")" ;; esac
exec '${process.execPath}' '${AGENT}' "$@"`,
};

/** A new server: its /etc, its /var/lib, and the recorders. */
async function makeServer(): Promise<string> {
  const made = await mkdtemp(path.join(shared, 'server-'));
  for (const name of ['bin', 'etc', 'var-lib']) await mkdir(path.join(made, name));
  for (const name of ['passwd', 'group', 'hosts', 'resolv.conf', 'nsswitch.conf'])
    if (existsSync(`/etc/${name}`)) await cp(`/etc/${name}`, path.join(made, 'etc', name));
  for (const [name, body] of Object.entries(RECORDERS)) {
    const program = path.join(made, 'bin', name);
    const head = `#!/bin/sh\nfiles='${made}'\necho "${name} $*" >> "$files/calls"`;
    await writeFile(program, `${head}\n${body}\n`);
    await chmod(program, 0o755);
  }
  await writeFile(path.join(made, 'doctor'), '1\n');
  return made;
}

const read = (file: string) => readFile(path.join(server, file), 'utf8');
const readCalls = async () => (existsSync(path.join(server, 'calls')) ? await read('calls') : '');

type Outcome = { code: number; out: string };

/** Runs a shell command on the server. */
function onServer(command: string, env: Record<string, string> = {}): Promise<Outcome> {
  const prepare = [
    `mount --bind '${server}/etc' /etc`,
    `mount --bind '${server}/var-lib' /var/lib`,
    `export PATH='${server}/bin':"$PATH" CURL_CA_BUNDLE='${shared}/tls-ca.pem'`,
  ];
  const script = [...prepare, command].join('\n');
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    execFile('unshare', ['--mount', 'sh', '-ec', script], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, out: stdout + stderr }),
    );
  });
}

type Token = {
  id: string;
  token: string;
  join_line: string;
  join_commands: string[];
  ca_sha256: string;
};

async function createToken(body: object = { location: 'eu-north-a' }): Promise<Token> {
  return (await client.admin('POST', '/join-tokens', body)).body;
}

/** The line of the documentation, which is that of the token. The test runs as root, so there is no need for sudo. */
function paste({ join_line }: Token, env: Record<string, string> = {}): Promise<Outcome> {
  const [url = ''] = /https:\S+/.exec(join_line) ?? [];
  const line = documented('joining.md', 'curl -fsSL', {
    'https://gantry.example.com/join/gantry_jt_…': url,
  });
  expect(line).toBe(`${join_line}\n`);
  return onServer(line.replace('| sudo sh', '| sh'), env);
}

/** As soon as the script has started the service, an agent runs with the identity of the server. */
async function runAgentWhenStarted(): Promise<void> {
  await expect.poll(readCalls).toContain('systemctl restart gantry-agent.service');
  const identity = await loadIdentity(path.join(server, 'var-lib/gantry'));
  const [model] = SERVER_MODELS;
  if (!identity || !model) throw new Error('BUG: the server is enrolled');
  const host = new SimulatedHost({
    ...{ fleet: loadFleet(), identity, ledger: new MemoryLedger() },
    log: createLog({ process: 'test', level: 'silent' }),
    address: () => `localhost:${scheduler.port}`,
    driver: new SimulatedHostDriver({
      inventory: inventoryOfHost(await simulatedInventory(model), identity.hostId),
    }),
  });
  hosts.push(host);
  await host.start();
}

describe('the pasted line', () => {
  it('makes a server a host that is ready, and may be run again', async () => {
    await mkdir(path.join(server, 'etc/gantry'));
    await writeFile(path.join(server, 'etc/gantry/agent.env'), 'GANTRY_UPLINK=eno1\n');
    const token = await createToken();
    const [first] = await Promise.all([paste(token), runAgentWhenStarted()]);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining(' is ready\n') });
    for (const step of [1, 2, 3, 4, 5, 6]) expect(first.out).toContain(`[${step} of 6]`);
    expect(await read('etc/apt/keyrings/gantry.asc')).toBe(`${KEY}\n`);
    expect(await read('etc/apt/sources.list.d/gantry.list')).toBe(
      `deb [signed-by=/etc/apt/keyrings/gantry.asc] ${SOURCE}\n`,
    );
    expect(await read('etc/gantry/agent.env')).toBe(
      `GANTRY_UPLINK=eno1\nGANTRY_SCHEDULERS=localhost:${scheduler.port}\n`,
    );
    const enrolled = await read('var-lib/gantry/host-id');
    const again = await paste(token);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('is enrolled as') });
    expect(await read('var-lib/gantry/host-id')).toBe(enrolled);
    expect((await readCalls()).match(/ install gantry-agent/g)).toHaveLength(1);
    // The token is in no argument of a program, in no output and in no log.
    for (const text of [await readCalls(), first.out, again.out, api.log(), scheduler.log()])
      expect(text).not.toContain(token.token);
  });

  it('lets a host come back as itself with a token that names it', async () => {
    const [first] = await Promise.all([paste(await createToken()), runAgentWhenStarted()]);
    expect(first.code).toBe(0);
    const hostId = (await read('var-lib/gantry/host-id')).trim();
    const certificate = await read('var-lib/gantry/certificate.pem');
    const refused = await paste(await createToken());
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.out).toContain(`gantry join --host ${hostId}`);
    await hosts.pop()?.stop();
    await writeFile(path.join(server, 'calls'), '');
    const token = await createToken({ host_id: hostId });
    const [back] = await Promise.all([paste(token), runAgentWhenStarted()]);
    expect(back.code).toBe(0);
    expect((await read('var-lib/gantry/host-id')).trim()).toBe(hostId);
    expect(await read('var-lib/gantry/certificate.pem')).not.toBe(certificate);
  });

  it('stops before the token is used if doctor reports failures, unless told otherwise', async () => {
    await writeFile(path.join(server, 'doctor'), '2\n');
    const token = await createToken();
    const stopped = await paste(token);
    expect(stopped).toMatchObject({
      code: 1,
      out: expect.stringContaining('correct the failures'),
    });
    expect(stopped.out).toContain('warn  iommu: it is "off" -> turn it on\n');
    expect((await client.admin('GET', `/join-tokens/${token.id}`)).body).toMatchObject({
      used_at: '',
      findings: [{ severity: 'warn', check: 'iommu', message: 'it is "off" -> turn it on' }],
    });
    expect(existsSync(path.join(server, 'var-lib/gantry'))).toBe(false);
    const env = { GANTRY_JOIN_IGNORE_DOCTOR: '1' };
    const [ignored] = await Promise.all([paste(token, env), runAgentWhenStarted()]);
    expect(ignored.code).toBe(0);
  });

  it('says what to do if the host does not connect in time', async () => {
    const late = await paste(await createToken(), { GANTRY_JOIN_WAIT_SECONDS: '0' });
    expect(late).toMatchObject({ code: 1 });
    expect(late.out).toMatch(/has not connected yet\n.*journalctl -u gantry-agent/s);
  });

  it('is refused on another server after the token was used', async () => {
    const token = await createToken();
    await paste(token, { GANTRY_JOIN_WAIT_SECONDS: '0' });
    server = await makeServer();
    const refused = await paste(token);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('another server') });
  });

  it('is the same as three commands, which the token also shows', async () => {
    await mkdir(path.join(server, 'etc/gantry'));
    const { token, ca_sha256, ...shown } = await createToken();
    const commands = documented('joining.md', 'sudo apt-get', {
      'fleet.example.com:7443': `localhost:${scheduler.port}`,
      ...{ 'gantry_jt_…': token, '--ca-sha256 …': `--ca-sha256 ${ca_sha256}` },
    });
    expect(commands).toBe(shown.join_commands.map((command) => `${command}\n`).join(''));
    const joined = await onServer(commands.replaceAll('sudo ', ''));
    expect(joined).toMatchObject({ code: 0 });
    expect(await read('var-lib/gantry/host-id')).toMatch(/^[0-9a-f-]{36}/);
    expect(await read('etc/gantry/agent.env')).toBe(
      `GANTRY_SCHEDULERS=localhost:${scheduler.port}\n`,
    );
    expect(await readCalls()).toMatch(
      /^apt-get install -y gantry-agent$.*^systemctl enable --now gantry-agent$/ms,
    );
  });

  it('prints why a token does not work, and exits 1 without a change', async () => {
    const wrong = { ...(await createToken()), token: '' };
    const url = wrong.join_line.replace(/gantry_jt_\S+/, `gantry_jt_${'x'.repeat(32)}`);
    const unknown = await onServer(url.replace('| sudo sh', '| sh'));
    expect(unknown).toMatchObject({ code: 1, out: expect.stringContaining('no such join token') });
    const old = await createToken();
    await processes.sql`update join_tokens set expires_at = now() where id = ${old.id}`;
    const expired = await paste(old);
    expect(expired).toMatchObject({ code: 1, out: expect.stringContaining('has expired') });
    expect(await readCalls()).toBe('');
  });

  it('does nothing if the download is cut off', async () => {
    const { join_line } = await createToken();
    const cut = await onServer(join_line.replace('| sudo sh', '| head -c -6 | sh'));
    expect(cut.code).toBe(0);
    expect(await readCalls()).toBe('');
  });

  it('passes shellcheck', async () => {
    const { join_line } = await createToken();
    const checked = await onServer(join_line.replace('| sudo sh', '| shellcheck --shell=sh -'));
    expect(checked).toEqual({ code: 0, out: '' });
  });
});
