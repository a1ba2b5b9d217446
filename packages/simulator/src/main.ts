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
    return { ready: { hosts: fleet.size }, stop: () => fleet.stop() };
  },
});
