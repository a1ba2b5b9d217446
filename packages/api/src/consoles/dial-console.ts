import type { Secrets } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { readFleetAuthority } from '@gantry/db/queries/fleet-authorities';
import { CloudError } from '@gantry/model/errors';
import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { type Fleet, loadFleet } from '@gantry/proto/load';
import { type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import type { ConsolePlace } from './open.ts';

export type ConsoleCall = ClientDuplexStream<ConsoleBytes, ConsoleBytes__Output>;

/** For the way to the scheduler, and clocks that differ a little. */
const PASS_LIFETIME_MS = 60_000;
const CHANNEL_OPTIONS = {
  // A scheduler that vanished without a word is found out after both together.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
  // A connection for each console, which ends with it.
  'grpc.use_local_subchannel_pool': 1,
};

let fleet: Fleet | undefined;

/**
 * The way to the scheduler that hears the VM's host. It proves itself by a certificate of the fleet's
 * authority, this api by a pass sealed with the installation's key, which hosts do not have.
 */
export async function dialConsole({
  sql,
  secrets,
  vmId,
  place,
}: {
  sql: Queryable;
  secrets: Secrets;
  vmId: string;
  place: ConsolePlace;
}): Promise<() => ConsoleCall> {
  const authority = await readFleetAuthority(sql);
  if (!authority) throw new CloudError('unavailable', 'no scheduler was ever started');
  fleet ??= loadFleet();
  const Client = fleet;
  return () => {
    const trust = credentials.createSsl(Buffer.from(authority.certificate_pem));
    const client = new Client(place.address, trust, CHANNEL_OPTIONS);
    const expiresAtMs = Date.now() + PASS_LIFETIME_MS;
    const pass = JSON.stringify({ vmId, hostId: place.hostId, expiresAtMs });
    const metadata = new Metadata();
    metadata.set('gantry-console-pass', secrets.seal('console-pass', pass));
    const call = client.joinConsole(metadata);
    call.once('status', () => client.close());
    // Whoever reads it sees its errors; one that comes when nobody does any more harms nobody.
    call.on('error', () => {});
    return call;
  };
}
