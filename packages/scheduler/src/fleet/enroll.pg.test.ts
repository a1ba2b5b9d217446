import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { enroll } from '@gantry/agent/identity/enroll';
import { renewWhenDue } from '@gantry/agent/identity/renew-when-due';
import { requestIdentity, requestRenewal } from '@gantry/agent/identity/request-certificate';
import { loadIdentity } from '@gantry/agent/identity/state-files';
import { makeCertificateRequest } from '@gantry/pki/certificate-request';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureAuthorities } from './authority.ts';
import {
  attach,
  clientOf,
  enrollStatus,
  log,
  makeToken,
  secrets,
  startTestFleet,
  type TestFleet,
  withDirectory,
} from './testing/test-fleet.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
afterAll(() => fleet.stop());

const { csrPem } = makeCertificateRequest();
const join = (token: string, hostname = 'gpu') =>
  requestIdentity({
    address: fleet.address,
    caPem: fleet.authority.certificatePem,
    token,
    hostname,
  });
const refusal = (request: { token?: string; csrPem?: string }) =>
  enrollStatus(clientOf(fleet), { csrPem, ...request });
const hostCount = async () => Number((await fleet.sql`select count(*) from hosts`)[0]?.['count']);

describe('a host with a join token', () => {
  it('joins the location of the token', async () => {
    const token = await makeToken(fleet.sql, { location: 'us-east-a' });
    const { hostId } = await join(token, 'Rack 3 / GPU 7');
    const rows = await fleet.sql`
      select h.name, h.location, h.state, t.used_at is not null as used, c.revoked_at
      from hosts h join join_tokens t on t.host_id = h.id
      join host_certificates c on c.host_id = h.id where h.id = ${hostId}`;
    expect(rows).toEqual([
      { name: 'rack-3-gpu-7', location: 'us-east-a', state: 'ready', used: true, revoked_at: null },
    ]);
  });

  it('gets a unique name if another host has the same hostname', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => makeToken(fleet.sql)));
    const ids = (await Promise.all(tokens.map((token) => join(token, 'twin')))).map(
      ({ hostId }) => hostId,
    );
    const rows = await fleet.sql<{ id: string; name: string }[]>`
      select id, name from hosts where name like 'twin%'`;
    const plain = rows.filter(({ name }) => name === 'twin');
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(plain).toHaveLength(1);
    for (const { id, name } of rows) {
      if (name !== 'twin') expect(name).toBe(`twin-${id.slice(-8)}`);
    }
  });

  it('is the only one that joins of twenty that use the token at the same time', async () => {
    const before = await hostCount();
    const token = await makeToken(fleet.sql);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        enrollStatus(clientOf(fleet), { token, csrPem, hostname: `racer-${number}` }),
      ),
    );
    const codes = replies.map(({ code }) => code).toSorted((a, b) => a - b);
    expect(codes).toEqual([status.OK, ...Array(19).fill(status.UNAUTHENTICATED)]);
    expect(await hostCount()).toBe(before + 1);
  });

  it('gets the same error for an unknown, used, expired or removed token', async () => {
    const used = await makeToken(fleet.sql);
    await join(used);
    const expired = await makeToken(fleet.sql, { expiresInMs: -1_000 });
    const removed = await makeToken(fleet.sql);
    await fleet.sql`delete from join_tokens where used_at is null and expires_at > now()`;
    const unknown = `gantry_jt_${'a'.repeat(38)}`;
    const before = await hostCount();
    const replies = [];
    for (const token of [used, expired, removed, unknown, 'nonsense', 'x'.repeat(100_000)]) {
      replies.push(await refusal({ token }));
    }
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(replies[0]?.code).toBe(status.UNAUTHENTICATED);
    expect(await hostCount()).toBe(before);
  });

  it('can use its token again after an invalid request', async () => {
    const token = await makeToken(fleet.sql);
    for (const bad of ['', 'nonsense', csrPem.replace('MI', 'MA')]) {
      const reply = await refusal({ token, csrPem: bad });
      expect(reply.code).toBe(status.INVALID_ARGUMENT);
      expect(reply.details).toContain('csr_pem');
    }
    expect((await join(token)).hostId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the agent', () => {
  it('finds the authority by its fingerprint and stores its identity', async () => {
    await withDirectory(async (stateDirectory) => {
      const token = await makeToken(fleet.sql);
      const options = {
        address: fleet.address,
        token,
        hostname: 'a',
        stateDirectory,
        caFingerprint: fleet.authority.fingerprint.toUpperCase(),
      };
      const identity = await enroll(options);
      expect(await loadIdentity(stateDirectory)).toEqual(identity);
      expect((await stat(path.join(stateDirectory, 'key.pem'))).mode & 0o777).toBe(0o600);
      expect((await readdir(stateDirectory)).toSorted()).toEqual([
        ...['ca.pem', 'certificate.pem', 'host-id', 'key.pem'],
      ]);
      await expect(enroll(options)).rejects.toMatchObject({ failure: 'already_enrolled' });
    });
  });

  it('sends its token to no server with another authority', async () => {
    const enrolled = vi.fn();
    const other = await startTestFleet({
      sql: new Proxy(fleet.sql, {
        apply: () => {
          enrolled();
          throw new Error('asked the database');
        },
      }),
    });
    await withDirectory(async (stateDirectory) => {
      const options = { address: other.address, hostname: 'a', stateDirectory };
      const token = await makeToken(fleet.sql);
      const { fingerprint, certificatePem } = fleet.authority;
      await expect(enroll({ ...options, token, caFingerprint: fingerprint })).rejects.toMatchObject(
        {
          failure: 'wrong_authority',
        },
      );
      await expect(enroll({ ...options, token, caPem: certificatePem })).rejects.toMatchObject({
        failure: 'lost_reply',
      });
      await expect(enroll({ ...options, token, caFingerprint: 'abc' })).rejects.toMatchObject({
        failure: 'bad_fingerprint',
      });
      expect(enrolled).not.toHaveBeenCalled();
      const caFingerprint = other.authority.fingerprint;
      await expect(enroll({ ...options, token, caFingerprint })).rejects.toThrow();
      expect(enrolled).toHaveBeenCalled();
      expect(await loadIdentity(stateDirectory)).toBe(undefined);
    });
    await other.stop();
  });

  it('reports whether a scheduler refused it or was unreachable', async () => {
    await withDirectory(async (stateDirectory) => {
      const token = `gantry_jt_${'b'.repeat(38)}`;
      const options = { address: fleet.address, token, hostname: 'a', stateDirectory };
      const { certificatePem, fingerprint } = fleet.authority;
      await expect(enroll({ ...options, caPem: certificatePem })).rejects.toMatchObject({
        failure: 'refused',
      });
      await expect(
        enroll({ ...options, address: '127.0.0.1:1', caFingerprint: fingerprint }),
      ).rejects.toMatchObject({ failure: 'unreachable' });
      await expect(
        enroll({ ...options, address: 'nowhere', caFingerprint: fingerprint }),
      ).rejects.toMatchObject({ failure: 'bad_address' });
    });
  });
});

describe('a renewal', () => {
  it('keeps the host id, and the older certificate stays valid until it is revoked', async () => {
    const first = await join(await makeToken(fleet.sql));
    const before = await hostCount();
    const second = await requestRenewal({ address: fleet.address, identity: first });
    const third = await requestRenewal({
      address: fleet.address,
      identity: first,
      newKey: false,
    });
    expect([second.hostId, third.hostId]).toEqual([first.hostId, first.hostId]);
    expect(second.keyPem).not.toBe(first.keyPem);
    expect(third.keyPem).toBe(first.keyPem);
    expect(await hostCount()).toBe(before);
    for (const identity of [first, second, third]) {
      const attached = attach(fleet, identity);
      await expect.poll(() => fleet.handlers.streams.at(-1)?.hostId).toBe(first.hostId);
      attached.close();
    }
    const rows = await fleet.sql`
      update host_certificates set revoked_at = now() where host_id = ${first.hostId} returning 1`;
    expect(rows).toHaveLength(3);
    await expect(requestRenewal({ address: fleet.address, identity: first })).rejects.toMatchObject(
      { failure: 'refused' },
    );
  });

  it('needs a certificate', async () => {
    expect(await refusal({})).toMatchObject({ code: status.UNAUTHENTICATED });
  });

  it('is refused for a fenced or removed host', async () => {
    const fenced = await join(await makeToken(fleet.sql));
    await fleet.sql`update hosts set fenced_at = now() where id = ${fenced.hostId}`;
    const removed = await join(await makeToken(fleet.sql));
    await fleet.sql`delete from hosts where id = ${removed.hostId}`;
    for (const identity of [fenced, removed]) {
      const pair = { keyPem: identity.keyPem, certificatePem: identity.certificatePem };
      expect(await enrollStatus(clientOf(fleet, pair), { csrPem })).toMatchObject({
        code: status.PERMISSION_DENIED,
      });
    }
  });

  it('happens automatically before the certificate expires and is on disk before its use', async () => {
    await withDirectory(async (stateDirectory) => {
      const { address } = fleet;
      const identity = await enroll({
        address,
        token: await makeToken(fleet.sql),
        hostname: 'short',
        stateDirectory,
        caPem: fleet.authority.certificatePem,
      });
      const renewed: string[] = [];
      const addresses = ['127.0.0.1:1'];
      const renewal = renewWhenDue({
        identity,
        stateDirectory,
        log,
        address: () => addresses.pop() ?? address,
        // Certificates last a day here, and this host's clock is ahead by most of it.
        nowMs: () => Date.now() + 20 * 3_600_000,
        onRenewed: (next) => renewed.push(next.certificatePem),
      });
      await expect.poll(() => renewed.length).toBeGreaterThan(1);
      await renewal.stop();
      expect(renewed).toContain((await loadIdentity(stateDirectory))?.certificatePem);
      expect(renewed).not.toContain(identity.certificatePem);
    });
  });
});

it('a scheduler accepts certificates that another scheduler issued', async () => {
  const second = await startTestFleet({
    sql: fleet.sql,
    authority: (await ensureAuthorities({ sql: fleet.sql, fleetSecrets: { secrets } })).issuing,
  });
  const identity = await join(await makeToken(fleet.sql));
  const attached = attach(second, identity);
  await expect.poll(() => second.handlers.streams[0]?.hostId).toBe(identity.hostId);
  const renewed = await requestRenewal({ address: second.address, identity });
  expect(renewed.hostId).toBe(identity.hostId);
  attached.close();
  await second.stop();
});

describe('a host with a token that names it', () => {
  const certificates = async (hostId: string) =>
    (
      await fleet.sql`select revoked_at is not null as revoked from host_certificates
        where host_id = ${hostId} order by created_at`
    ).map(({ revoked }) => revoked);

  it('comes back as itself, and its earlier certificates are revoked', async () => {
    const { hostId } = await join(await makeToken(fleet.sql));
    const before = await hostCount();
    const again = await join(await makeToken(fleet.sql, { rejoinsId: hostId }), 'reinstalled');
    expect(again.hostId).toBe(hostId);
    expect(await hostCount()).toBe(before);
    expect(await certificates(hostId)).toEqual([true, false]);
  });

  it('uses the token once', async () => {
    const { hostId } = await join(await makeToken(fleet.sql));
    const token = await makeToken(fleet.sql, { rejoinsId: hostId });
    await join(token);
    expect((await refusal({ token })).code).toBe(status.UNAUTHENTICATED);
  });

  it('does not come back after it was fenced', async () => {
    const { hostId } = await join(await makeToken(fleet.sql));
    const token = await makeToken(fleet.sql, { rejoinsId: hostId });
    await fleet.sql`update hosts set fenced_at = now() where id = ${hostId}`;
    expect((await refusal({ token })).code).toBe(status.UNAUTHENTICATED);
    expect(await certificates(hostId)).toEqual([false]);
  });

  it('that is enrolled stays the same host, and a token for another host is not used up', async () => {
    await withDirectory(async (stateDirectory) => {
      const options = { address: fleet.address, caPem: fleet.authority.certificatePem };
      const asked = { ...options, hostname: 'gpu', stateDirectory };
      const { hostId } = await enroll({ ...asked, token: await makeToken(fleet.sql) });
      const forNewHost = await makeToken(fleet.sql);
      await expect(enroll({ ...asked, token: forNewHost, again: true })).rejects.toThrow();
      expect((await join(forNewHost)).hostId).not.toBe(hostId);
      const token = await makeToken(fleet.sql, { rejoinsId: hostId });
      expect((await enroll({ ...asked, token, again: true })).hostId).toBe(hostId);
      expect((await loadIdentity(stateDirectory))?.hostId).toBe(hostId);
    });
  });
});
