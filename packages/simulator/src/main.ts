import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { createSettingsReader } from '@gantry/daemon/settings';
import { startFleet } from './fleet/fleet.ts';
import { readFleetSettings } from './fleet/fleet-settings.ts';

const log = createLog({ process: 'fleet', level: process.env['GANTRY_LOG_LEVEL'] ?? 'info' });

await runProcess({
  log,
  start: async () => {
    const fleet = await startFleet(readFleetSettings(createSettingsReader()), log);
    const ready = { hosts: fleet.size, control_socket: fleet.controlSocket };
    return { ready, stop: () => fleet.stop() };
  },
});
