import { createPrivateKey } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadIdentity, saveIdentity } from '@gantry/agent/identity/state-files';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import { publicKeyOf } from '@gantry/pki/keys';
import { type OwnServer, startOwnServer } from '@gantry/testkit/database/own-server';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import { runAgentCommand } from '@gantry/testkit/processes/run-commands';
import {
  type Fleet,
  type Process,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { freePort } from '@gantry/testkit/real-host/free-port';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AlertReceiver, startAlertReceiver } from './alert-receiver.ts';
import { type Monitoring, startMonitoring, type Targets } from './start-prometheus.ts';

/**
 * A control plane, simulated hosts and a real agent, watched by Prometheus and Alertmanager with our own files.
 * Each test breaks something and waits for the page, mends it and waits for the end of the alert.
 */
const LOCATION = 'eu-north-a';
const DAY_MS = 86_400_000;
const POOL_MIB = 64;

let server: OwnServer;
let processes: Processes;
let client: Client;
let scheduler: Scheduler;
let fleet: Fleet;
let host: LibvirtHost;
let agent: Process;
let receiver: AlertReceiver;
let targets: Targets;
let monitoring: Monitoring;
let schedulerEnv: Record<string, string>;
let agentEnv: Record<string, string>;
const authority = makeAuthority();
const paged = new Map<string, number>();

beforeAll(async () => {
  processes = await startProcesses({
    startDatabase: async () => {
      server = await startOwnServer();
      return { databaseUrl: server.url, stop: server.remove };
    },
  });
  host = await startLibvirtHost('watched');
  const api = await processes.startApi();
  client = await connectClient(processes, api);
  schedulerEnv = {
    ...(await authorityFiles()),
    GANTRY_FLEET_PORT: `${await freePort()}`,
    GANTRY_METRICS_PORT: `${await freePort()}`,
    GANTRY_FLEET_METRICS_S: '1',
    GANTRY_UNREACHABLE_AFTER_MS: '2000',
  };
  scheduler = await processes.startScheduler(schedulerEnv);
  const quick = { GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20' };
  fleet = await processes.startFleet({
    ...{ name: 'eu', hosts: `${LOCATION}:a40-8=1`, schedulers: [scheduler], api, env: quick },
  });
  await enroll();
  await startAgent();
  for (const port of [api.metricsPort, scheduler.metricsPort]) await host.reachLoopback(port);
  receiver = await startAlertReceiver();
  targets = {
    'gantry-api': `127.0.0.1:${api.metricsPort}`,
    'gantry-scheduler': `127.0.0.1:${scheduler.metricsPort}`,
    'gantry-agent': `127.0.0.1:${agentEnv['GANTRY_METRICS_PORT']}`,
  };
  monitoring = await startMonitoring({ host, targets, receiverUrl: receiver.url });
});

afterAll(async () => {
  await monitoring?.stop();
  await receiver?.stop();
  await processes?.stop();
  await host?.stop();
  const figures = [...paged].map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s`);
  process.stdout.write(`from the fault to the page: ${figures.join(', ')}\n`);
});

/** An authority of the test's own, so that the test can issue a certificate of the past. */
async function authorityFiles() {
  const certFile = path.join(host.directory, 'ca.pem');
  const keyFile = path.join(host.directory, 'ca-key.pem');
  await writeFile(certFile, authority.certificatePem);
  await writeFile(keyFile, authority.privateKeyPem, { mode: 0o600 });
  return { GANTRY_CA_CERT_FILE: certFile, GANTRY_CA_KEY_FILE: keyFile };
}

async function enroll(): Promise<void> {
  await host.reachLoopback(scheduler.port);
  const { body } = await client.admin('POST', '/join-tokens', { location: LOCATION });
  const token = ['--token', body.token, '--ca-sha256', body.ca_sha256];
  const where = ['--server', `localhost:${scheduler.port}`, '--name', host.name];
  const enrolled = await runAgentCommand(['enroll', ...where, ...token], host.environment);
  expect(enrolled).toMatchObject({ code: 0 });
}

/** Its data directory is a small file system of its own, which ends with the process. */
async function startAgent(): Promise<void> {
  agentEnv ??= {
    ...host.environment,
    GANTRY_SCHEDULERS: `localhost:${scheduler.port}`,
    GANTRY_SYSFS_ROOT: await writeStandIns(host.directory),
    GANTRY_STAND_IN_DEVICES: '1',
    GANTRY_METRICS_PORT: `${await freePort()}`,
  };
  const mount = `mount -t tmpfs -o size=${POOL_MIB}m tmpfs ${host.dataDirectory} && exec "$@"`;
  agent = await processes.startAgent({
    env: agentEnv,
    command: (program, ...args) =>
      host.command('unshare', '-m', 'sh', '-c', mount, 'sh', program, ...args),
  });
}

/** Notes how long after the fault the alert arrives. */
async function pages(name: string, sinceMs: number): Promise<void> {
  await receiver.until(name, 'firing');
  paged.set(name, (performance.now() - sinceMs) / 1_000);
}

it('a healthy installation has all rules evaluated and raises no alert', async () => {
  await expect
    .poll(async () => {
      const rules = await monitoring.rules();
      // The memory of the machine that runs the tests is not ours to judge.
      rules.delete('GantryHostMemoryLow');
      return [rules.size > 25, [...rules].filter(([, state]) => state !== 'inactive')];
    })
    .toEqual([true, []]);
  expect(receiver.firing()).toEqual([]);
});

it('every process names and describes its metrics as Prometheus asks', async () => {
  for (const target of Object.values(targets)) {
    const check = `curl -sf http://${target}/metrics | promtool check metrics`;
    expect(await host.runIn('bash', '-o', 'pipefail', '-c', check)).toBe('');
  }
});

it('a lost host, its quarantined GPU and a full disk pool are paged for and end when mended', async () => {
  const operation = await client.createVm({ name: 'tenant' });
  expect((await client.ended(operation)).state).toBe('SUCCEEDED');
  const name = await fleet.hostOf(operation.metadata.id);
  const lostMs = performance.now();
  await fleet.order(name, 'power-off');
  // What the agent sees below its own mounts.
  const pool = `/proc/${agent.pid}/root${host.dataDirectory}`;
  const file = `${pool}/full`;
  const { bavail, bsize } = await statfs(pool);
  await writeFile(file, Buffer.alloc(bavail * bsize - 2 * 1024 * 1024));
  await Promise.all([pages('GantryHostLost', lostMs), pages('GantryStoragePoolFilling', lostMs)]);

  await rm(file);
  const [lost] = await processes.sql<{ id: string }[]>`select id from hosts where name = ${name}`;
  const fencedMs = performance.now();
  const fenced = await client.admin('POST', `/hosts/${lost?.id}:fence`, { confirm: name });
  expect(fenced).toMatchObject({ status: 200 });
  await Promise.all([
    pages('GantryDeviceQuarantined', fencedMs),
    receiver.until('GantryHostLost', 'resolved'),
    receiver.until('GantryStoragePoolFilling', 'resolved'),
  ]);

  const devices = await processes.sql<{ id: string }[]>`
    select id from devices where state = 'quarantined'`;
  for (const { id } of devices) {
    const released = await client.admin('POST', `/devices/${id}:release`, {});
    expect(released).toMatchObject({ status: 200 });
  }
  await receiver.until('GantryDeviceQuarantined', 'resolved');
});

it('a dead scheduler and a certificate that it cannot renew are paged for and end when it is back', async () => {
  await agent.kill();
  await scheduler.kill();
  const sinceMs = performance.now();
  await giveOldCertificate();
  await startAgent();
  await Promise.all([
    pages('GantryNoScheduler', sinceMs),
    pages('GantryCertificateNotRenewed', sinceMs),
  ]);
  scheduler = await processes.startScheduler(schedulerEnv);
  await receiver.until('GantryNoScheduler', 'resolved');
  await receiver.until('GantryCertificateNotRenewed', 'resolved');
});

it('a database that is away is paged for and ends when it is back', async () => {
  const sinceMs = performance.now();
  await server.stop();
  await pages('GantryDatabaseAway', sinceMs);
  await server.start();
  await receiver.until('GantryDatabaseAway', 'resolved');
});

/** Gives the host a certificate of 90 days that was issued 80 days ago, as if it had been away since. */
async function giveOldCertificate(): Promise<void> {
  const identity = await loadIdentity(host.stateDirectory);
  if (!identity) throw new Error('BUG: the host is not enrolled');
  const issuedMs = Date.now() - 80 * DAY_MS;
  const { pem, serial } = issueHostCertificate(loadAuthority(authority), {
    hostId: identity.hostId,
    publicKey: publicKeyOf(createPrivateKey(identity.keyPem)),
    ttlMs: 90 * DAY_MS,
    now: new Date(issuedMs),
  });
  await processes.sql`insert into host_certificates (serial, host_id, not_after, authority)
    select ${serial}, host_id, ${new Date(issuedMs + 90 * DAY_MS)}, authority from host_certificates where host_id = ${identity.hostId} limit 1`;
  await saveIdentity(host.stateDirectory, { ...identity, certificatePem: pem });
}
