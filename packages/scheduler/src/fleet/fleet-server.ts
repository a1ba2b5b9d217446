import type { Log } from '@gantry/daemon/log';
import { MIB } from '@gantry/daemon/units';
import { within } from '@gantry/daemon/within';
import type { Queryable } from '@gantry/db/connect';
import type { DatabaseWatch } from '@gantry/db/database-watch';
import { CloudError } from '@gantry/model/errors';
import type { FleetHandlers } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { type Fleet, loadFleet } from '@gantry/proto/load';
import {
  ResponderBuilder,
  Server,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import { admit, identifyPeer } from './admission.ts';
import type { Authorities } from './authorities.ts';
import { enrollWithToken, renew } from './enroll.ts';
import { FleetCredentials } from './fleet-credentials.ts';
import { type CallStatus, statusOf } from './grpc-status.ts';
import type {
  AttachCall,
  AuthContext,
  ConsoleCall,
  FetchImageCall,
  SendImageCall,
} from './grpc-types.ts';
import { LiveStream, type StreamHandlers } from './host-stream.ts';
import { LiveStreams } from './live-streams.ts';

/**
 * The Fleet service on one port, with TLS. Without a valid host certificate a caller can use Enroll,
 * the health check of load balancers, and JoinConsole with a console pass, and nothing else. Attach checks
 * its caller itself. A guard protects all other methods, including reflection, and denies by default.
 */
export type FleetServer = {
  port: number;
  attachedCount(): number;
  /** Ends the streams that use these certificates. */
  endRevoked(serials: ReadonlySet<string>): void;
  /** New connections see a certificate of the authority that serves now. Streams stay open. */
  authoritiesChanged(): void;
  /** What the health check replies to load balancers. */
  setServing(isServing: boolean): void;
  /** Ends all streams that are open now. */
  endStreams(reason: string): void;
  /** Ends all streams, so that hosts attach elsewhere, and accepts no new ones. Takes seconds. */
  stop(): Promise<void>;
};

type Options = {
  sql: Queryable;
  log: Log;
  /** Certificates are issued and checked by it. While it is wrong, all calls are refused. */
  clock: Pick<DatabaseWatch, 'nowMs' | 'clockProblem'>;
  /** Called for each certificate. After a change, call `authoritiesChanged`. */
  authorities: () => Authorities;
  host: string;
  /** Zero: any free port. */
  port: number;
  /** The DNS names and addresses that hosts use. */
  names: readonly string[];
  /** The lifetime of hosts' certificates. */
  certificateTtlMs: number;
  /** The lifetime of this server's own certificate, which is renewed automatically. */
  serverCertificateTtlMs?: number;
  handlers: StreamHandlers;
  consoles: ConsoleHandlers;
  images: ImageHandlers;
};

/** Both reject if the transfer fails, and `statusOf` has its status. */
export type ImageHandlers = {
  send(hostId: string, call: SendImageCall): Promise<void>;
  fetch(hostId: string, call: FetchImageCall): Promise<void>;
  statusOf(error: unknown): CallStatus;
};

/** Both functions end the call themselves. */
export type ConsoleHandlers = {
  open(hostId: string, call: ConsoleCall): void;
  join(call: ConsoleCall): void;
};

const DAY_MS = 86_400_000;
/** The whole server, and the service by its name. */
const HEALTH_NAMES = ['', 'gantry.v1.Fleet'];
/** One reply, without a query. Watch would be a stream for anyone who asks. */
const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
/** The time for statuses to reach the hosts. After it, connections are closed. */
const STOP_GRACE_MS = 2_000;
const STOP_LIMIT_MS = 5_000;

const SERVER_OPTIONS = {
  // Channelz would keep an unused record for each connection.
  'grpc.enable_channelz': 0,
  'grpc.max_receive_message_length': 4 * MIB,
  'grpc.max_send_message_length': 4 * MIB,
  // An agent needs one stream, now and then a second to renew, and one for each console and each image.
  'grpc.max_concurrent_streams': 128,
  // Streams without reports are aborted elsewhere. Keepalive finds dead connections without a stream.
  // With ten thousand connections the number of pings matters.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // An idle connection is closed.
  'grpc.max_connection_idle_ms': 60_000,
};

export async function startFleetServer(options: Options): Promise<FleetServer> {
  const { authorities, names, log, host } = options;
  const fleet = loadFleet();
  const streams = new LiveStreams();
  const service = createService({ ...options, streams });
  const server = new Server({
    ...SERVER_OPTIONS,
    interceptors: [guard({ fleet, log, check: service.check })],
  });
  server.addService(passingBuffers(fleet.service), service.handlers);
  const health = new HealthImplementation(
    Object.fromEntries(HEALTH_NAMES.map((name) => [name, 'SERVING' as const])),
  );
  health.addToServer(server);
  const setServing = (isServing: boolean) => {
    for (const name of HEALTH_NAMES) health.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING');
  };
  new ReflectionService(describe(fleet)).addToServer(server);
  const ttlMs = options.serverCertificateTtlMs ?? DAY_MS;
  const credentials = new FleetCredentials({
    authorities,
    names,
    ttlMs,
    now: () => new Date(options.clock.nowMs()),
  });
  const at = (port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(at(options.port), credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    port,
    attachedCount: () => streams.attachedCount(),
    endRevoked: (serials) => streams.endRevoked(serials),
    authoritiesChanged: () => credentials.renew(),
    setServing,
    endStreams: (details) => streams.endAll({ code: status.UNAVAILABLE, details }),
    async stop() {
      setServing(false);
      service.refuse();
      credentials.stop();
      streams.endAll({ code: status.UNAVAILABLE, details: 'this scheduler is stopping' });
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      server.drain(at(port), STOP_GRACE_MS);
      await within(STOP_LIMIT_MS, Promise.all([closed, service.idle()]));
    },
  };
}

/** The service, except that Attach sends a message that is encoded already as it is. */
function passingBuffers(service: Fleet['service']): Fleet['service'] {
  const { Attach } = service;
  const responseSerialize = (message: HostSpec | Buffer) =>
    Buffer.isBuffer(message) ? message : Attach.responseSerialize(message);
  return { ...service, Attach: { ...Attach, responseSerialize } };
}

type ServiceOptions = Options & { streams: LiveStreams };

function createService({
  sql,
  log,
  clock,
  authorities,
  certificateTtlMs,
  handlers,
  consoles,
  images,
  streams,
}: ServiceOptions) {
  const now = () => new Date(clock.nowMs());
  const enrolment = { sql, authorities, ttlMs: certificateTtlMs, now };
  const identify = (peer: AuthContext) => {
    const problem = clock.clockProblem();
    if (problem !== null) throw new CloudError('unavailable', problem);
    const trusted = authorities().trusted.map(({ certificate }) => certificate);
    return identifyPeer(peer, { authorities: trusted, now: now() });
  };
  const opening = new Set<Promise<void>>();
  let stopping = false;

  const attach = async (call: AttachCall) => {
    let stream: LiveStream | undefined;
    try {
      if (stopping) throw new CloudError('unavailable', 'this scheduler is stopping');
      const identity = identify(call.getAuthContext());
      // Added before admission, so that a revocation or a stop also ends this stream.
      stream = new LiveStream({
        call,
        identity,
        handlers,
        log,
        onEnd: (ended) => streams.delete(ended),
      });
      streams.add(stream);
      await admit({ sql, log, identity, address: call.getPeer() });
    } catch (error) {
      const refusal = statusOf(error, log);
      if (stream) stream.end(refusal);
      else call.emit('error', refusal);
      return;
    }
    await stream.open();
  };

  const fleetHandlers: FleetHandlers = {
    Attach(call) {
      const opened = attach(call).finally(() => opening.delete(opened));
      opening.add(opened);
    },
    Console(call) {
      consoles.open(identify(call.getAuthContext()).hostId, call);
    },
    JoinConsole: (call) => consoles.join(call),
    SendImage(call, callback) {
      const sent = async () => await images.send(identify(call.getAuthContext()).hostId, call);
      sent().then(
        () => callback(null, {}),
        (error) => callback(images.statusOf(error)),
      );
    },
    FetchImage(call) {
      const fetched = async () => await images.fetch(identify(call.getAuthContext()).hostId, call);
      fetched().catch((error) => call.emit('error', images.statusOf(error)));
    },
    Enroll(call, callback) {
      const { request } = call;
      const enrolled = async () =>
        request.token === ''
          ? await renew(enrolment, request, identify(call.getAuthContext()))
          : await enrollWithToken(enrolment, request);
      enrolled().then(
        (reply) => callback(null, reply),
        (error) => callback(statusOf(error, log)),
      );
    },
  };
  return {
    handlers: fleetHandlers,
    check: async (peer: AuthContext, address: string) =>
      await admit({ sql, log, identity: identify(peer), address }),
    refuse() {
      stopping = true;
    },
    idle: async () => await Promise.allSettled(opening),
  };
}

type Guard = {
  fleet: Fleet;
  log: Log;
  check: (peer: AuthContext, address: string) => Promise<void>;
};

function guard({ fleet, log, check }: Guard): ServerInterceptor {
  const { Enroll, Attach, JoinConsole } = fleet.service;
  const open = new Set([Enroll.path, Attach.path, JoinConsole.path, HEALTH_CHECK]);
  return (method, call) => {
    if (open.has(method.path)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(
      call,
      new ResponderBuilder()
        .withStart((next) => {
          check(call.getAuthContext(), call.getPeer()).then(
            () => next(),
            (error) => call.sendStatus(statusOf(error, log)),
          );
        })
        .build(),
    );
  };
}

/** The descriptors in the form that the reflection service expects. */
function describe({ service }: Fleet) {
  return {
    'gantry.v1.Fleet': service,
    'gantry.v1.HostReport': service.Attach.requestType,
  } as unknown as ConstructorParameters<typeof ReflectionService>[0];
}
