import { readConfig } from '@gantry/daemon/config';
import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { readFleetConfig } from './fleet/config.ts';
import { startFleet } from './fleet/fleet.ts';

const log = createLog({ process: 'fleet', level: process.env['GANTRY_LOG_LEVEL'] ?? 'info' });

await runProcess({
  log,
  start: async () => {
    const fleet = await startFleet(readFleetConfig(readConfig()), log);
    const ready = { hosts: fleet.size, control_socket: fleet.controlSocket };
    return { ready, stop: () => fleet.stop() };
  },
});
