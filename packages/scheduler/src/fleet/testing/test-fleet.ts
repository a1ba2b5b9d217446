import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLog } from '@gantry/daemon/log';
import { createSecrets, sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { CertificateAuthority } from '@gantry/pki/certificate-authority';
import type { FleetClient } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { HostReport, HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { loadFleet } from '@gantry/proto/load';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import {
  type ChannelCredentials,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { type Authorities, authoritiesOf } from '../authorities.ts';
import { ensureAuthorities } from '../authority.ts';
import { type FleetServer, startFleetServer } from '../fleet-server.ts';
import { statusOf } from '../grpc-status.ts';
import type { HostStream, StreamHandlers } from '../host-stream.ts';
import { type OutgoingSpec, toSpecPart } from '../outgoing-spec.ts';

/** A fleet server over a throwaway database and loopback TLS, and hosts that call it. */

export const secrets = createSecrets('a secret key for tests, long enough');
export const log = createLog({ process: 'scheduler', level: 'silent' });
const DAY_MS = 86_400_000;
const Fleet = loadFleet();

/** Stream handlers that record their calls. */
export type Recorder = StreamHandlers & {
  streams: HostStream[];
  events: string[];
  reports: HostReport__Output[];
};

export function recorder(attached: () => void | Promise<void> = () => {}): Recorder {
  const made: Recorder = {
    streams: [],
    events: [],
    reports: [],
    async attached(stream) {
      made.streams.push(stream);
      made.events.push('attaching');
      await attached();
      made.events.push('attached');
    },
    readable: () => {},
    report(_stream, report) {
      made.reports.push(report);
      made.events.push(`report ${report.acceptedNumber}`);
    },
    ended() {
      made.events.push('ended');
    },
  };
  return made;
}

export type TestFleet = {
  database: TestDatabase;
  sql: Sql;
  authority: CertificateAuthority;
  server: FleetServer;
  handlers: Recorder;
  address: string;
  stop(): Promise<void>;
};

type Overrides = Partial<Parameters<typeof startFleetServer>[0]> & {
  handlers?: Recorder;
  authority?: CertificateAuthority;
};

const refuse = () => Promise.reject(notFound('image'));

export async function startTestFleet({
  authority: given,
  ...overrides
}: Overrides = {}): Promise<TestFleet> {
  const database = await createTestDatabase();
  const { sql } = database;
  const authorities: Authorities = given
    ? authoritiesOf([given])
    : await ensureAuthorities({ sql, fleetSecrets: { secrets } });
  const authority = authorities.issuing;
  const handlers = overrides.handlers ?? recorder();
  const server = await startFleetServer({
    sql,
    log,
    clock: { nowMs: () => Date.now(), clockProblem: () => null },
    authorities: () => authorities,
    host: '127.0.0.1',
    port: 0,
    names: ['localhost', '127.0.0.1'],
    certificateTtlMs: DAY_MS,
    images: { send: refuse, fetch: refuse, statusOf: (error) => statusOf(error, log) },
    consoles: { open: (_hostId, call) => call.end(), join: (call) => call.end() },
    ...overrides,
    handlers,
  });
  return {
    database,
    sql,
    authority,
    server,
    handlers,
    address: `127.0.0.1:${server.port}`,
    async stop() {
      await server.stop();
      await database.drop();
    },
  };
}

export async function makeToken(
  sql: Sql,
  {
    location = 'eu-north-a',
    expiresInMs = DAY_MS,
    rejoinsId = null,
  }: { location?: string; expiresInMs?: number; rejoinsId?: string | null } = {},
): Promise<string> {
  const token = `gantry_jt_${newId().replaceAll('-', '')}abcdef`;
  await sql`insert into join_tokens (id, hash, location, created_by, expires_at, rejoins_id)
    values (${newId()}, ${sha256(token)}, ${location}, ${newId()}, ${new Date(Date.now() + expiresInMs)}, ${rejoinsId})`;
  return token;
}

export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-identity-'));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export type Pair = { keyPem: string; certificatePem: string };

/** A channel that trusts this authority and presents this certificate, or none. */
export function channelOf(authority: CertificateAuthority, pair?: Pair): ChannelCredentials {
  const ca = Buffer.from(authority.certificatePem);
  if (!pair) return credentials.createSsl(ca);
  return credentials.createSsl(ca, Buffer.from(pair.keyPem), Buffer.from(pair.certificatePem));
}

export function clientOf(fleet: TestFleet, pair?: Pair): FleetClient {
  return new Fleet(fleet.address, channelOf(fleet.authority, pair));
}

export type Attached = {
  call: ClientDuplexStream<HostReport, HostSpec__Output>;
  specs: HostSpec__Output[];
  /** Resolves when the call has ended. */
  status: Promise<StatusObject>;
  close(): void;
};

/** `held` is what the metadata `gantry-pieces` says; undefined for an agent that takes no pieces. */
export function attach(fleet: TestFleet, pair?: Pair, held?: string): Attached {
  const client = clientOf(fleet, pair);
  const metadata = new Metadata();
  if (held !== undefined) metadata.set('gantry-pieces', held);
  const call = client.attach(metadata);
  const specs: HostSpec__Output[] = [];
  call.on('data', (spec: HostSpec__Output) => specs.push(spec));
  call.on('error', () => {});
  const status = new Promise<StatusObject>((resolve) => call.on('status', resolve));
  return {
    call,
    specs,
    status,
    close() {
      call.cancel();
      client.close();
    },
  };
}

/** A spec with one VM whose id is this text; without VMs if it is empty. */
export function outgoingSpec(number: number, vmId = ''): OutgoingSpec {
  const parts = vmId === '' ? [] : [toSpecPart({ vms: [{ id: vmId }] })];
  const id = { era: '0', number: String(number), hash: `hash of ${number}` };
  return { id, parts, consoles: [], authoritySha256s: [] };
}

/** Returns the status of a call, also if it fails. */
export async function enrollStatus(
  client: FleetClient,
  request: { token?: string; csrPem?: string; hostname?: string },
): Promise<{ code: number; details: string }> {
  return await new Promise((resolve) => {
    client.enroll(request, (error: ServiceError | null) => {
      client.close();
      resolve(error ? { code: error.code, details: error.details } : { code: 0, details: '' });
    });
  });
}
