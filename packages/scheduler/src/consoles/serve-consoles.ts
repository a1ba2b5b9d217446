import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { DatabaseWatch } from '@gantry/db/database-watch';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { status } from '@grpc/grpc-js';
import type { AttachedHosts } from '../attached/attached-hosts.ts';
import { ConsoleRelay, HOST_LOST } from '../attached/console-relay.ts';
import type { Delivering } from '../deliver/start-delivering.ts';
import type { ConsoleHandlers } from '../fleet/fleet-server.ts';
import { statusOf } from '../fleet/grpc-status.ts';
import type { ConsoleCall } from '../fleet/grpc-types.ts';

/** The limit per VM. A host attaches to one scheduler, so this process knows all its consoles. */
const MAX_PER_VM = 4;

type Options = {
  log: Log;
  secrets: Secrets;
  clock: Pick<DatabaseWatch, 'nowMs'>;
  hosts: AttachedHosts;
  delivering: Delivering;
};
type Pass = { vmId: string; hostId: string; expiresAtMs: number };

/**
 * An api that needs a console calls the scheduler that holds the host's stream. The console becomes
 * part of that host's spec, the host opens a stream for it, and the two streams are connected. All
 * state is in memory: the console ends with this process, the host's stream or the api's call.
 */
export function serveConsoles({
  log,
  secrets,
  clock,
  hosts,
  delivering,
}: Options): ConsoleHandlers {
  const join = (call: ConsoleCall) => {
    const { vmId, hostId } = readPass(secrets, {
      sealed: metadataOf(call, 'gantry-console-pass'),
      nowMs: clock.nowMs(),
    });
    const host = hosts.get(hostId);
    if (!host) return refuse(call, HOST_LOST);
    const open = [...host.consoles.values()].filter((relay) => relay.vmId === vmId);
    if (open.length >= MAX_PER_VM) return refuse(call, TOO_MANY);
    const id = newId();
    const onEnd = () => {
      host.consoles.delete(id);
      delivering.requestConsoles(hostId);
    };
    host.consoles.set(id, new ConsoleRelay({ id, vmId, api: call, onEnd }));
    delivering.requestConsoles(hostId);
  };

  const handle = (call: ConsoleCall, handler: () => void) => {
    try {
      handler();
    } catch (error) {
      refuse(call, statusOf(error, log));
    }
  };
  return {
    join: (call) => handle(call, () => join(call)),
    open: (hostId, call) =>
      handle(call, () => {
        const relay = hosts.get(hostId)?.consoles.get(metadataOf(call, 'gantry-console'));
        if (!relay?.join(call)) throw notFound('console');
      }),
  };
}

const TOO_MANY = {
  code: status.RESOURCE_EXHAUSTED,
  details: `the VM has ${MAX_PER_VM} consoles open already`,
};

const refuse = (call: ConsoleCall, why: { code: status; details: string }) => {
  call.emit('error', why);
};

function metadataOf(call: ConsoleCall, name: string): string {
  return String(call.metadata.get(name)[0] ?? '');
}

function readPass(secrets: Secrets, { sealed, nowMs }: { sealed: string; nowMs: number }): Pass {
  let pass: Pass;
  try {
    pass = JSON.parse(secrets.unseal('console-pass', sealed)) as Pass;
  } catch (cause) {
    throw new CloudError('bad_credential', 'this call needs a console pass from an api process', {
      cause,
    });
  }
  if (pass.expiresAtMs > nowMs) return pass;
  throw new CloudError('bad_credential', 'the console pass has expired: open the console again');
}
