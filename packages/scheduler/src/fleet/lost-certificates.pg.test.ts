import type { Identity } from '@gantry/agent/identity/identity';
import { requestIdentity } from '@gantry/agent/identity/request-certificate';
import { beginEra } from '@gantry/db/queries/maintenance/era';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attach, makeToken, startTestFleet, type TestFleet } from './testing/test-fleet.ts';

/** The database was restored, and has lost rows of certificates that hosts got since the backup. */
let fleet: TestFleet;
let host: Identity;
beforeAll(async () => {
  fleet = await startTestFleet();
});
afterAll(() => fleet.stop());
beforeEach(async () => {
  await fleet.sql`update installation set era = 0`;
  host = await requestIdentity({
    ...{ address: fleet.address, caPem: fleet.authority.certificatePem, hostname: '' },
    token: await makeToken(fleet.sql),
  });
});

/** The backup has an earlier certificate of the host instead of its last one. */
const loseCertificate = () =>
  fleet.sql`update host_certificates set serial = 'earlier ' || serial, created_at = created_at - interval '1 hour'
    where host_id = ${host.hostId}`;

/** Begins an era after all certificates were issued, whose times are in whole seconds. */
async function restore(): Promise<void> {
  await beginEra(fleet.sql, { evenIfCurrent: true });
  await fleet.sql`update installation set era = era + 1`;
}

async function isAdmitted(): Promise<boolean> {
  const { streams } = fleet.handlers;
  const before = streams.length;
  const attached = attach(fleet, host);
  let refusal: status | undefined;
  void attached.status.then(({ code }) => {
    refusal = code;
  });
  await expect.poll(() => refusal ?? streams.length > before).toBeTruthy();
  attached.close();
  if (streams.length === before) expect(refusal).toBe(status.UNAUTHENTICATED);
  return streams.length > before;
}

const strays = async () => await fleet.sql`select host_id, address from stray_hosts`;

describe('a host whose last certificate was lost', () => {
  it('is admitted after an era has begun, and its certificate can be revoked again', async () => {
    await loseCertificate();
    expect(await isAdmitted()).toBe(false);
    await restore();
    expect(await isAdmitted()).toBe(true);
    expect(await isAdmitted()).toBe(true);
    const rows = await fleet.sql`select authority, not_after > now() as valid from host_certificates
      where host_id = ${host.hostId} order by created_at`;
    expect(rows).toHaveLength(2);
    expect(rows[1]).toEqual({ authority: fleet.authority.fingerprint, valid: true });
    await fleet.sql`update host_certificates set revoked_at = now() where host_id = ${host.hostId}`;
    expect(await isAdmitted()).toBe(false);
  });

  it.each([
    ['it was issued in this era', () => fleet.sql`update installation set era = era - 3600`],
    [
      'the database knows a later one',
      () =>
        fleet.sql`update host_certificates set created_at = now() + interval '1 minute'
        where host_id = ${host.hostId}`,
    ],
    [
      "an operator has revoked the host's certificates in this era",
      () =>
        fleet.sql`update host_certificates set revoked_at = now() + interval '1 minute'
        where host_id = ${host.hostId}`,
    ],
    [
      'the host is fenced',
      () => fleet.sql`update hosts set state = 'fenced' where id = ${host.hostId}`,
    ],
  ])('is refused if %s', async (_reason, change) => {
    await loseCertificate();
    await restore();
    await change();
    expect(await isAdmitted()).toBe(false);
    expect(await strays()).toEqual([]);
  });
});

it('a host whose enrolment was lost is refused, and recorded with its address', async () => {
  await fleet.sql`delete from hosts where id = ${host.hostId}`;
  expect(await isAdmitted()).toBe(false);
  expect(await strays()).toEqual([]);
  await restore();
  expect(await isAdmitted()).toBe(false);
  expect(await isAdmitted()).toBe(false);
  const address = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  expect(await strays()).toEqual([{ host_id: host.hostId, address }]);
});
