import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { enroll } from '@gantry/agent/identity/enroll';
import type { Identity } from '@gantry/agent/identity/identity';
import { type Renewal, renewWhenDue } from '@gantry/agent/identity/renew-when-due';
import { requestRenewal } from '@gantry/agent/identity/request-certificate';
import { saveIdentity } from '@gantry/agent/identity/state-files';
import { createSecrets } from '@gantry/daemon/secrets';
import { listFleetAuthorities } from '@gantry/db/queries/hosts/fleet-authorities';
import {
  beginRotation,
  readRotation,
  withdrawAuthority,
} from '@gantry/scheduler/fleet/rotate-authority';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { SECRET_KEY } from '@gantry/testkit/api/test-api';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** The fleet's authority is replaced while hosts run VMs. */
let cloud: Cloud;
let directory: string;
let renewals: Renewal[];
/** The authority before the rotation. */
let old: string;

const fleetSecrets = { secrets: createSecrets(SECRET_KEY) };
const who = () => ({ sql: cloud.sql, actor: 'ops@machine', now: new Date() });
const begin = () => beginRotation({ ...who(), fleetSecrets });
const withdraw = (leaveBehind = false) => withdrawAuthority({ ...who(), leaveBehind });
const names = (hosts: { id: string }[]) => hosts.map(({ id }) => id);
const address = () => `localhost:${cloud.schedulers[0]?.port}`;

beforeEach(async () => {
  cloud = await startCloud();
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-rotation-'));
  renewals = [];
  // Longer than a busy machine pauses: no host may be unreachable.
  await cloud.addScheduler({ unreachableAfterMs: 60_000 });
  await cloud.addScheduler({ unreachableAfterMs: 60_000 });
  old = (await readRotation(cloud.sql)).issuing ?? '';
});
afterEach(async () => {
  await Promise.all(renewals.map((renewal) => renewal.stop()));
  await cloud.stop();
  await rm(directory, { recursive: true });
});

/** A host whose agent renews its certificate as on a real host. */
async function addHost(): Promise<SimulatedHost> {
  let renewal: Renewal | undefined;
  const host = await cloud.addHost({ onAuthorities: (sha256s) => renewal?.follow(sha256s) });
  renewal = renewWhenDue({
    ...{ identity: host.identity, address, log: cloud.log, spreadMs: 0 },
    stateDirectory: path.join(directory, host.id),
    onRenewed: (identity) => host.renewed(identity),
  });
  renewals.push(renewal);
  return host;
}

/** The authority with whose certificate the host is attached now. Undefined: it is not attached. */
const attachedWith = async ({ id }: { id: string }) => {
  const [row] = await cloud.sql`select certificate_authority from hosts
    where id = ${id} and scheduler_id is not null`;
  return row?.['certificate_authority'] as string | undefined;
};

async function createVm(): Promise<void> {
  const { operationId } = await cloud.createVm();
  await expect.poll(async () => (await cloud.operation(operationId)).state).toBe('SUCCEEDED');
}

async function kill(host: SimulatedHost): Promise<void> {
  host.kill();
  await expect.poll(() => attachedWith(host)).toBeUndefined();
}

it('a host stays attached and takes VMs before, during and after a rotation', async () => {
  const host = await addHost();
  const before = host.identity;
  expect(await attachedWith(host)).toBe(old);
  await createVm();

  const { issuing: fresh = '', missing } = await begin();
  expect(names(missing)).toEqual([host.id]);
  await expect.poll(() => attachedWith(host)).toBe(fresh);
  expect(host.identity.caPem).toContain(before.caPem.trim());
  await createVm();

  expect(await withdraw()).toMatchObject({ withdrawn: true, missing: [] });
  // The host renews once more, and does not trust the old authority any more.
  await expect.poll(() => host.identity.caPem).not.toContain(before.caPem.trim());
  await expect.poll(() => attachedWith(host)).toBe(fresh);
  await createVm();

  const unreachable = await cloud.sql`select from events where type = 'vm_unreachable'`;
  expect(unreachable).toHaveLength(0);
  const both = { ...host.identity, keyPem: before.keyPem, certificatePem: before.certificatePem };
  await expect(requestRenewal({ address: address(), identity: both })).rejects.toThrow(
    'certificate of this fleet',
  );
  const [row] = await cloud.sql`select sealed_private_key, state from fleet_authorities
    where fingerprint = ${old}`;
  expect(row).toEqual({ sealed_private_key: '', state: 'withdrawn' });
});

it('a host that was away, and a new one, get in while both authorities are trusted', async () => {
  const away = await addHost();
  await kill(away);
  const { issuing: fresh } = await begin();
  expect(await withdraw()).toMatchObject({ withdrawn: false, missing: [{ id: away.id }] });

  await away.start();
  await expect.poll(() => attachedWith(away)).toBe(fresh);

  const { body } = await cloud.api.call('POST', '/admin/join-tokens', {
    ...{ bearer: cloud.operator, body: { location: 'eu-north-a' } },
  });
  expect(body.ca_sha256).toBe(old);
  await enroll({
    ...{ address: address(), token: body.token, caFingerprint: body.ca_sha256 },
    ...{ hostname: 'new', stateDirectory: path.join(directory, 'new') },
  });
  const [row] = await cloud.sql`select c.authority from host_certificates c
    join hosts h on h.id = c.host_id where h.name = 'new'`;
  expect(row?.['authority']).toBe(fresh);
});

it('a host that was left behind needs a join token, and comes back as itself', async () => {
  const [present, away] = [await addHost(), await addHost()];
  await kill(away);
  const { issuing: fresh = '' } = await begin();
  await expect.poll(() => attachedWith(present)).toBe(fresh);

  const authorities = await listFleetAuthorities(cloud.sql);
  expect(await withdraw()).toMatchObject({ withdrawn: false, missing: [{ id: away.id }] });
  expect(await listFleetAuthorities(cloud.sql)).toEqual(authorities);

  expect(await withdraw(true)).toMatchObject({ withdrawn: true, missing: [{ id: away.id }] });
  await expect.poll(() => present.identity.caPem).not.toContain(away.identity.caPem.trim());
  await expect(requestRenewal({ address: address(), identity: away.identity })).rejects.toThrow();
  await away.start();

  const { body } = await cloud.api.call('POST', '/admin/join-tokens', {
    ...{ bearer: cloud.operator, body: { host_id: away.id } },
  });
  expect(body.ca_sha256).toBe(fresh);
  const stateDirectory = path.join(directory, away.id);
  await saveIdentity(stateDirectory, away.identity);
  const identity: Identity = await enroll({
    ...{ address: address(), token: body.token, caFingerprint: body.ca_sha256 },
    ...{ hostname: 'away', stateDirectory, again: true },
  });
  expect(await attachedWith(away)).toBeUndefined();
  away.renewed(identity);
  expect(identity.hostId).toBe(away.id);
  await expect.poll(() => attachedWith(away)).toBe(fresh);
});

it('each step is in the audit log, and a step at the wrong time changes nothing', async () => {
  const refused = async (step: () => Promise<unknown>, message: string) => {
    const before = await listFleetAuthorities(cloud.sql);
    await expect(step()).rejects.toThrow(message);
    expect(await listFleetAuthorities(cloud.sql)).toEqual(before);
  };
  await refused(withdraw, 'no rotation is in progress');
  const other = { secrets: createSecrets('another key of schedulers, long enough') };
  await refused(() => beginRotation({ ...who(), fleetSecrets: other }), 'GANTRY_FLEET_KEY');
  const { issuing: fresh } = await begin();
  await refused(begin, 'a rotation is in progress');
  await withdraw();
  const { body } = await cloud.api.call('GET', '/admin/audit-logs?limit=2', {
    bearer: cloud.operator,
  });
  expect(body.items).toMatchObject([
    { action: 'fleet-authorities.withdraw', resource_id: old, actor: 'ops@machine' },
    { action: 'fleet-authorities.begin', resource_id: fresh, actor: 'ops@machine' },
  ]);
});
