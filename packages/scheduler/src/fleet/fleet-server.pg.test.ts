import { connect as connectTls } from 'node:tls';
import type { Identity } from '@gantry/agent/identity/identity';
import { requestIdentity } from '@gantry/agent/identity/request-certificate';
import { listRevokedSerials } from '@gantry/db/queries/hosts/host-certificates';
import { newId } from '@gantry/model/ids';
import {
  CLIENT_AUTH,
  extendedKeyUsage,
  notAnAuthority,
  SERVER_AUTH,
  signCertificate,
  subjectAltNames,
} from '@gantry/pki/certificate';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { distinguishedName } from '@gantry/pki/distinguished-name';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import { makePrivateKey, privateKeyPem, publicKeyOf } from '@gantry/pki/keys';
import { uriName } from '@gantry/pki/subject-alt-names';
import type { HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { Client, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  attach,
  channelOf,
  clientOf,
  enrollStatus,
  makeToken,
  outgoingSpec,
  type Pair,
  type Recorder,
  recorder,
  startTestFleet,
  type TestFleet,
} from './testing/test-fleet.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
afterAll(() => fleet.stop());

const join = async (to: TestFleet = fleet): Promise<Identity> =>
  requestIdentity({
    address: to.address,
    caPem: to.authority.certificatePem,
    hostname: '',
    token: await makeToken(to.sql),
  });

/** Calls of other services; their body is an empty message, so that they need no schema. */
const OTHERS = ['/grpc.health.v1.Health/List'];
const REFLECTION = [
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
];
const same = (bytes: Buffer) => bytes;

function callRaw(path: string, pair?: Pair): Promise<number> {
  const client = new Client(fleet.address, channelOf(fleet.authority, pair));
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error) => {
      client.close();
      resolve(error?.code ?? status.OK);
    });
  });
}

/** What a load balancer sees, without a certificate: 1 is SERVING, 2 is NOT_SERVING. */
function checkHealth(service: string): Promise<number | undefined> {
  const client = new Client(fleet.address, channelOf(fleet.authority));
  const name = Buffer.from(service);
  // HealthCheckRequest { service }
  const request = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest('/grpc.health.v1.Health/Check', same, same, request, (error, reply) => {
      client.close();
      // HealthCheckResponse { status }
      if (error) reject(error);
      else resolve(reply?.at(1));
    });
  });
}

function streamRaw(path: string, pair?: Pair): Promise<number> {
  const client = new Client(fleet.address, channelOf(fleet.authority, pair));
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest(path, same, same);
    const finish = (code: number) => {
      client.close();
      resolve(code);
    };
    call.on('data', () => {
      call.cancel();
      finish(status.OK);
    });
    call.on('error', (error: { code?: number }) => finish(error.code ?? -1));
    // ServerReflectionRequest { list_services: "*" }
    call.write(Buffer.from([0x3a, 0x01, 0x2a]));
  });
}

async function refusedEverywhere(pair: Pair | undefined, code: status): Promise<void> {
  const { streams } = fleet.handlers;
  const before = streams.length;
  const attached = attach(fleet, pair);
  expect((await attached.status).code).toBe(code);
  attached.close();
  for (const path of OTHERS) expect(await callRaw(path, pair)).toBe(code);
  for (const path of REFLECTION) expect(await streamRaw(path, pair)).toBe(code);
  expect(streams.length).toBe(before);
}

describe('a connection', () => {
  it('without a certificate can call only Enroll and the health check', async () => {
    await refusedEverywhere(undefined, status.UNAUTHENTICATED);
    const reply = await enrollStatus(clientOf(fleet), { token: 'none', csrPem: '' });
    expect(reply.details).toContain('join token');
  });

  it('of a load balancer sees whether the server serves, without a certificate', async () => {
    expect(await checkHealth('')).toBe(1);
    expect(await checkHealth('gantry.v1.Fleet')).toBe(1);
    fleet.server.setServing(false);
    expect(await checkHealth('gantry.v1.Fleet')).toBe(2);
    fleet.server.setServing(true);
    expect(await checkHealth('')).toBe(1);
  });

  it("with a host's certificate can call everything", async () => {
    const identity = await join();
    const attached = attach(fleet, identity);
    await expect.poll(() => fleet.handlers.streams.at(-1)?.hostId).toBe(identity.hostId);
    attached.close();
    for (const path of OTHERS) expect(await callRaw(path, identity)).toBe(status.OK);
    for (const path of REFLECTION) expect(await streamRaw(path, identity)).toBe(status.OK);
  });

  type Shape = { extensions?: Buffer[]; from?: typeof fleet.authority; endsInMs?: number };
  /** A certificate with a row in the database, as if it had been given to a host. */
  const forge = async (shape: (hostId: string) => Shape): Promise<Pair> => {
    const { hostId } = await join();
    const key = makePrivateKey();
    const name = subjectAltNames([uriName(`urn:gantry:host:${hostId}`)]);
    const {
      from = fleet.authority,
      endsInMs = 60_000,
      extensions = [notAnAuthority(), extendedKeyUsage(CLIENT_AUTH), name],
    } = shape(hostId);
    const notAfter = new Date(Date.now() + endsInMs);
    const { pem, serial } = signCertificate({
      issuer: from.issuer,
      publicKey: publicKeyOf(key),
      extensions,
      subject: distinguishedName(hostId),
      validity: { notBefore: new Date(Date.now() - 3_600_000), notAfter },
    });
    await fleet.sql`insert into host_certificates (serial, host_id, not_after)
      values (${serial}, ${hostId}, ${notAfter})`;
    return { keyPem: privateKeyPem(key), certificatePem: pem };
  };
  const nameOf = (hostId: string) => subjectAltNames([uriName(`urn:gantry:host:${hostId}`)]);

  it.each<[string, (hostId: string) => Shape]>([
    ['of another authority', () => ({ from: loadAuthority(makeAuthority()) })],
    ['that has expired', () => ({ endsInMs: -2_000 })],
    [
      'for servers',
      (id) => ({ extensions: [notAnAuthority(), extendedKeyUsage(SERVER_AUTH), nameOf(id)] }),
    ],
    ['for no purpose', (id) => ({ extensions: [notAnAuthority(), nameOf(id)] })],
    ['without a name', () => ({ extensions: [notAnAuthority(), extendedKeyUsage(CLIENT_AUTH)] })],
  ])('with a certificate %s is refused', async (_name, shape) => {
    await refusedEverywhere(await forge(shape), status.UNAUTHENTICATED);
  });

  it('with a well-formed certificate is accepted, so the form is the reason above', async () => {
    const pair = await forge(() => ({}));
    expect(await callRaw('/grpc.health.v1.Health/List', pair)).toBe(status.OK);
  });

  it("with a scheduler's own certificate is refused", async () => {
    const made = issueServerCertificate(fleet.authority, { names: ['localhost'], ttlMs: 60_000 });
    const pair = { keyPem: made.privateKeyPem, certificatePem: made.pem };
    await refusedEverywhere(pair, status.UNAUTHENTICATED);
  });

  it('with a certificate that is not in the database is refused', async () => {
    const identity = await join();
    await fleet.sql`delete from host_certificates where host_id = ${identity.hostId}`;
    await refusedEverywhere(identity, status.UNAUTHENTICATED);
  });

  it('with a revoked certificate is refused', async () => {
    const identity = await join();
    await fleet.sql`update host_certificates set revoked_at = now() where host_id = ${identity.hostId}`;
    await refusedEverywhere(identity, status.UNAUTHENTICATED);
  });

  it.each(['fenced_at = now()', "state = 'fenced'"])(
    'of a host that is fenced (%s) is refused',
    async (fence) => {
      const identity = await join();
      await fleet.sql.unsafe(`update hosts set ${fence} where id = '${identity.hostId}'`);
      await refusedEverywhere(identity, status.PERMISSION_DENIED);
    },
  );
});

describe('a stream', () => {
  it('ends at once when its certificate is revoked, and other streams stay', async () => {
    const [revoked, other] = [await join(), await join()];
    const [ended, kept] = [attach(fleet, revoked), attach(fleet, other)];
    const streamOf = (id: string) => fleet.handlers.streams.findLast(({ hostId }) => hostId === id);
    await expect.poll(() => streamOf(revoked.hostId)).toBeDefined();
    await expect.poll(() => streamOf(other.hostId)).toBeDefined();
    await fleet.sql`update host_certificates set revoked_at = now() where host_id = ${revoked.hostId}`;
    await fleet.sql`insert into host_certificates (serial, host_id, not_after, revoked_at)
      values (${newId()}, ${other.hostId}, now() - interval '1 minute', now())`;
    const serials = await listRevokedSerials(fleet.sql);
    expect(serials).toContain(streamOf(revoked.hostId)?.certificateSerial);
    const expired = await fleet.sql`select serial from host_certificates where not_after < now()`;
    for (const { serial } of expired) expect(serials).not.toContain(serial);
    fleet.server.endRevoked(serials);
    expect((await ended.status).code).toBe(status.UNAUTHENTICATED);
    streamOf(other.hostId)?.send(outgoingSpec(7));
    await expect.poll(() => kept.specs.map(({ number }) => number)).toEqual(['7']);
    kept.close();
  });

  it('ends when its certificate expires, and other streams stay', async () => {
    const handlers = recorder();
    const short = await startTestFleet({ certificateTtlMs: 12_000, handlers });
    const [first, second] = [await join(short), await join(short)];
    const expiring = attach(short, first);
    await expect.poll(() => handlers.streams.length).toBe(1);
    const longer = await startTestFleet({ sql: short.sql, authority: short.authority });
    const lasting = attach(longer, await join({ ...longer, sql: short.sql }));
    await expect.poll(() => longer.handlers.streams.length).toBe(1);
    expect(await expiring.status).toMatchObject({
      code: status.UNAUTHENTICATED,
      details: 'the certificate has expired',
    });
    expect(handlers.events).toEqual(['attaching', 'attached', 'ended']);
    expect([short.server.attachedCount(), longer.server.attachedCount()]).toEqual([0, 1]);
    const late = attach(short, second);
    await expect.poll(async () => (await late.status).code).toBe(status.UNAUTHENTICATED);
    lasting.close();
    await longer.stop();
    await short.stop();
  });

  it('delivers reports in order after it is attached, and its end once', async () => {
    let goOn = () => {};
    const handlers = recorder(
      () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    );
    const slow = await startTestFleet({ handlers });
    const attached = attach(slow, await join(slow));
    for (const number of [1, 2, 3]) attached.call.write({ acceptedNumber: number });
    await expect.poll(() => handlers.events).toEqual(['attaching']);
    goOn();
    const reports = ['report 1', 'report 2', 'report 3'];
    await expect.poll(() => handlers.events).toEqual(['attaching', 'attached', ...reports]);
    expect(slow.server.attachedCount()).toBe(1);
    attached.call.end();
    expect((await attached.status).code).toBe(status.OK);
    await expect.poll(() => slow.server.attachedCount()).toBe(0);
    await slow.stop();
    expect(handlers.events).toEqual(['attaching', 'attached', ...reports, 'ended']);
    handlers.streams[0]?.send(outgoingSpec(1));
    handlers.streams[0]?.abort('again');
  });

  it('that ends while it is being attached reports its end afterwards', async () => {
    let goOn = () => {};
    const handlers = recorder(
      () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    );
    const slow = await startTestFleet({ handlers });
    const attached = attach(slow, await join(slow));
    await expect.poll(() => handlers.events).toEqual(['attaching']);
    handlers.streams[0]?.abort('no longer wanted');
    expect(await attached.status).toMatchObject({
      code: status.ABORTED,
      details: 'no longer wanted',
    });
    expect(handlers.events).toEqual(['attaching']);
    goOn();
    await expect.poll(() => handlers.events).toEqual(['attaching', 'attached', 'ended']);
    await slow.stop();
  });

  it('is attached before it is read, and reports its end at once if it ends in between', async () => {
    let goOn = () => {};
    const handlers: Recorder = {
      ...recorder(),
      readable: () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    };
    const slow = await startTestFleet({ handlers });
    const attached = attach(slow, await join(slow));
    attached.call.write({ acceptedNumber: 1 });
    await expect.poll(() => handlers.events).toEqual(['attaching', 'attached']);
    handlers.streams[0]?.send(outgoingSpec(7));
    await expect.poll(() => attached.specs.length).toBe(1);
    attached.close();
    await expect.poll(() => handlers.events).toEqual(['attaching', 'attached', 'ended']);
    goOn();
    await slow.stop();
    expect(handlers.events).toEqual(['attaching', 'attached', 'ended']);
  });

  it('ends if it cannot be attached or a report is not accepted, and other streams stay', async () => {
    const handlers = recorder(() => {
      if (handlers.streams.length === 1) throw new Error('no');
    });
    const { report } = handlers;
    handlers.report = (stream, content) => {
      report(stream, content);
      throw new Error('no');
    };
    const broken = await startTestFleet({ handlers });
    const first = attach(broken, await join(broken));
    expect((await first.status).code).toBe(status.UNAVAILABLE);
    const second = attach(broken, await join(broken));
    second.call.write({ acceptedNumber: 5 });
    expect((await second.status).code).toBe(status.ABORTED);
    expect(handlers.events).toEqual([
      ...['attaching', 'ended', 'attaching', 'attached', 'report 5', 'ended'],
    ]);
    await broken.stop();
  });

  it('of a slow reader skips specs that a newer one replaced', async () => {
    const identity = await join();
    const client = clientOf(fleet, identity);
    const call = client.attach();
    call.on('error', () => {});
    call.pause();
    const streamOf = () =>
      fleet.handlers.streams.findLast(({ hostId }) => hostId === identity.hostId);
    await expect.poll(streamOf).toBeDefined();
    const large = (number: number) => outgoingSpec(number, 'x'.repeat(1_000_000));
    for (let number = 1; number <= 50; number += 1) streamOf()?.send(large(number));
    const numbers: string[] = [];
    call.on('data', ({ number }) => numbers.push(number));
    call.resume();
    await expect.poll(() => numbers).toContain('50');
    expect(numbers).toEqual(['1', '50']);
    call.cancel();
    client.close();
  });
});

describe('a spec in pieces', () => {
  const bytesOf = (spec: HostSpec__Output | undefined) =>
    spec?.pieces.map(({ content }) => content.length > 0);

  it('brings each piece once per stream, and none that the host has from the last stream', async () => {
    const identity = await join();
    const streamOf = () =>
      fleet.handlers.streams.findLast(({ hostId }) => hostId === identity.hostId);
    const first = attach(fleet, identity, 'none');
    await expect.poll(streamOf).toBeDefined();
    streamOf()?.send(outgoingSpec(1, 'vm'));
    streamOf()?.send(outgoingSpec(2, 'vm'));
    await expect.poll(() => first.specs.length).toBe(2);
    expect(first.specs.map(bytesOf)).toEqual([[true], []]);
    expect(first.specs[1]?.pieceHashes).toEqual(first.specs[0]?.pieceHashes);
    const before = streamOf();
    const again = attach(fleet, identity, 'hash of 2');
    await expect.poll(() => streamOf() !== before).toBe(true);
    streamOf()?.send(outgoingSpec(2, 'vm'));
    streamOf()?.send(outgoingSpec(3, 'other'));
    await expect.poll(() => again.specs.length).toBe(2);
    expect(again.specs.map(bytesOf)).toEqual([[], [true]]);
    first.close();
    again.close();
  });

  it('is not sent again when consoles change', async () => {
    const identity = await join();
    const streamOf = () =>
      fleet.handlers.streams.findLast(({ hostId }) => hostId === identity.hostId);
    const attached = attach(fleet, identity, 'none');
    await expect.poll(streamOf).toBeDefined();
    const consoles = [{ id: 'c', vmId: 'vm' }];
    expect(streamOf()?.sendConsoles(consoles)).toBe(false);
    streamOf()?.send(outgoingSpec(1, 'vm'));
    expect(streamOf()?.sendConsoles(consoles)).toBe(true);
    await expect.poll(() => attached.specs.length).toBe(2);
    expect(attached.specs[1]).toMatchObject({ number: '1', hash: 'hash of 1', consoles });
    expect(bytesOf(attached.specs[1])).toEqual([]);
    attached.close();
  });
});

describe('a stopping server', () => {
  it('ends all streams, also of hosts that do not read, and accepts no new ones', async () => {
    const handlers = recorder();
    const stopping = await startTestFleet({ handlers });
    const identities = [await join(stopping), await join(stopping), await join(stopping)];
    const attached = identities.slice(0, 2).map((identity) => attach(stopping, identity));
    const deaf = clientOf(stopping, identities[2]).attach();
    deaf.on('error', () => {});
    await expect.poll(() => stopping.server.attachedCount()).toBe(3);
    const stuck = handlers.streams.find(({ hostId }) => hostId === identities[2]?.hostId);
    stuck?.send(outgoingSpec(1, 'x'.repeat(1_000_000)));
    const stopped = stopping.server.stop();
    for (const { status: over } of attached) {
      expect((await over).code).toBe(status.UNAVAILABLE);
    }
    await stopped;
    expect(handlers.events.filter((event) => event === 'ended')).toHaveLength(3);
    expect(stopping.server.attachedCount()).toBe(0);
    const late = attach(stopping, identities[0]);
    expect((await late.status).code).toBe(status.UNAVAILABLE);
    for (const each of [...attached, late]) each.close();
    deaf.cancel();
    await stopping.database.drop();
  });
});

it('the server renews its own certificate while it runs', async () => {
  const quick = await startTestFleet({ serverCertificateTtlMs: 6_000 });
  const serial = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls(
        {
          host: '127.0.0.1',
          port: quick.server.port,
          ALPNProtocols: ['h2'],
          ca: quick.authority.certificatePem,
        },
        () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });
  // A server that gets no processor may show an expired certificate for a moment.
  const first = await vi.waitFor(serial, 30_000);
  await expect.poll(serial).not.toBe(first);
  await quick.stop();
});

describe('a scheduler whose clock is wrong', () => {
  it('refuses hosts and says why, and serves them again when its clock is right', async () => {
    let problem: string | null = null;
    const clock = { nowMs: () => Date.now(), clockProblem: () => problem };
    const other = await startTestFleet({ clock });
    const pair = await join(other);
    const served = attach(other, pair);
    await expect.poll(() => other.server.attachedCount()).toBe(1);

    problem = 'the clock is wrong';
    other.server.endStreams(problem);
    const refusal = { code: status.UNAVAILABLE, details: problem };
    expect(await served.status).toMatchObject(refusal);
    const refused = attach(other, pair);
    expect(await refused.status).toMatchObject(refusal);

    problem = null;
    const again = attach(other, pair);
    await expect.poll(() => other.server.attachedCount()).toBe(1);
    for (const one of [served, refused, again]) one.close();
    await other.stop();
  });
});

it('certificates are issued by the clock of the database', async () => {
  const HOUR_MS = 3_600_000;
  const databaseMs = Date.now() - HOUR_MS / 2;
  const clock = { nowMs: () => databaseMs, clockProblem: () => null };
  const other = await startTestFleet({ clock, certificateTtlMs: 2 * HOUR_MS });
  await join(other);
  const [row] = await other.sql<{ not_after: Date }[]>`select not_after from host_certificates`;
  expect(Math.abs((row?.not_after.getTime() ?? 0) - databaseMs - 2 * HOUR_MS)).toBeLessThan(1_000);
  await other.stop();
});
