import type { Secrets } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { readTrustedCertificates } from '@gantry/db/queries/hosts/fleet-authorities';
import { CloudError } from '@gantry/model/errors';
import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { type Fleet, loadFleet } from '@gantry/proto/load';
import { type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import type { Deps } from '../deps.ts';
import type { ConsolePlace } from './open.ts';

export type ConsoleCall = ClientDuplexStream<ConsoleBytes, ConsoleBytes__Output>;

/** Long enough for the way to the scheduler and a small difference between the clocks. */
const PASS_LIFETIME_MS = 60_000;
const CHANNEL_SETTINGS = {
  // A scheduler that disappeared without closing the connection is detected after both together.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
  // Each console has its own connection, which closes with the console.
  'grpc.use_local_subchannel_pool': 1,
};

let fleet: Fleet | undefined;

/**
 * Returns a function that calls the scheduler to which the VM's host is connected. The scheduler
 * proves its identity with a certificate of the fleet's CA. The api proves its own with a pass that
 * is sealed with the installation's secret key, which hosts do not have.
 */
export async function dialConsole({
  sql,
  secrets,
  clock,
  vmId,
  place,
}: {
  sql: Queryable;
  secrets: Secrets;
  clock: Deps['clock'];
  vmId: string;
  place: ConsolePlace;
}): Promise<() => ConsoleCall> {
  const certificates = await readTrustedCertificates(sql);
  if (certificates === '')
    throw new CloudError('unavailable', 'no scheduler has been started yet: try again later');
  fleet ??= loadFleet();
  const Client = fleet;
  return () => {
    const trust = credentials.createSsl(Buffer.from(certificates));
    const client = new Client(place.address, trust, CHANNEL_SETTINGS);
    const expiresAtMs = clock.nowMs() + PASS_LIFETIME_MS;
    const pass = JSON.stringify({ vmId, hostId: place.hostId, expiresAtMs });
    const metadata = new Metadata();
    metadata.set('gantry-console-pass', secrets.seal('console-pass', pass));
    const call = client.joinConsole(metadata);
    call.once('status', () => client.close());
    // The reader of the call gets its errors. Without a listener, an error after that would be
    // uncaught.
    call.on('error', () => {});
    return call;
  };
}
