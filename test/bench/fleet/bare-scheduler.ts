import { setFlagsFromString } from 'node:v8';
import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect } from '@gantry/db/connect';
import { loadFleet } from '@gantry/proto/load';
import { ensureAuthorities } from '@gantry/scheduler/fleet/authority';
import { FleetCredentials } from '@gantry/scheduler/fleet/fleet-credentials';
import { Server, type ServerDuplexStream } from '@grpc/grpc-js';

/**
 * The baseline for the memory of a scheduler: a server with the same TLS and the same settings of the
 * process, which sends one empty message to each host and holds the stream.
 */
Buffer.poolSize = 0;
setFlagsFromString('--heap-growing-percent=50');

const DAY_MS = 86_400_000;

await runProcess({
  log: createLog({ process: 'bare-scheduler', level: 'warn' }),
  start: async () => {
    const sql = connect({ url: process.env['DATABASE_URL'] ?? '', name: 'bench-bare' });
    const secrets = createSecrets(process.env['GANTRY_FLEET_KEY'] ?? '');
    const authorities = await ensureAuthorities({ sql, fleetSecrets: { secrets } });
    await sql.end();
    const server = new Server({ 'grpc.enable_channelz': 0 });
    const { Attach } = loadFleet().service;
    server.addService({ Attach }, { Attach: hold });
    const credentials = new FleetCredentials({
      ...{ authorities: () => authorities, names: ['127.0.0.1'], ttlMs: DAY_MS },
      now: () => new Date(),
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    return { ready: { fleet_port: port }, stop: async () => server.forceShutdown() };
  },
});

function hold(stream: ServerDuplexStream<object, object>): void {
  stream.once('data', () => stream.write({}));
  stream.on('error', () => {});
}
