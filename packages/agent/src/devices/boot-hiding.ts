import type { Log } from '@gantry/daemon/log';
import { Worker } from '../base/worker.ts';
import type { HostDevices } from './open-devices.ts';

type Found = Parameters<HostDevices['hideFromBoot']>[0];

/**
 * Hides devices from the host's boot in the background, whenever other devices or other uses are
 * found. A failure is not retried until then or until the agent starts again, because each attempt is
 * heavy work for the host.
 */
export function bootHiding({ hideFromBoot }: Pick<HostDevices, 'hideFromBoot'>, log: Log) {
  let wanted: Found = [];
  let tried = '';
  const worker = new Worker(async () => {
    const key = JSON.stringify(wanted.map(({ address, serial, uses }) => [address, serial, uses]));
    if (key === tried) return;
    tried = key;
    await hideFromBoot(wanted).catch((error: unknown) =>
      log.warn({ error }, 'drives could not be hidden from the boot; the host may use them then'),
    );
  });
  return {
    found(devices: Found): void {
      wanted = devices;
      worker.nudge();
    },
  };
}
