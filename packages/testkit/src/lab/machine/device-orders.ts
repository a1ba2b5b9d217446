import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cleaning, Device } from '@gantry/agent/host-driver';
import { build } from 'esbuild';
import type { DeviceOrder } from '../programs/order-devices.ts';
import type { Lab } from './start-lab.ts';

type Refusal = { code: string; message: string };
type Result<T> = { result: T; refusal?: undefined } | { result?: undefined; refusal: Refusal };

const source = fileURLToPath(new URL('../programs/order-devices.ts', import.meta.url));
const LIMIT = { limitSeconds: 300 };

/** Runs the agent's code for devices in a lab's machine, without the rest of the agent. */
export type DeviceOrders = {
  bind(device: Device, more?: Partial<DeviceOrder>): Promise<Result<null>>;
  release(device: Device, more?: Partial<DeviceOrder>): Promise<Result<Cleaning>>;
  list(): Promise<Device[]>;
  /**
   * Repeats an order until it succeeds. Each run is killed at the first point at which no earlier run
   * was killed. Returns these points.
   */
  insist(order: DeviceOrder): Promise<{ result: unknown; deaths: string[] }>;
};

export async function deviceOrders(lab: Lab): Promise<DeviceOrders> {
  await build({
    entryPoints: [source],
    outfile: path.join(lab.share, 'order-devices.mjs'),
    ...{ bundle: true, platform: 'node', target: 'node20', format: 'esm', logLevel: 'warning' },
  });
  const command = (order: DeviceOrder) =>
    `node /share/order-devices.mjs '${JSON.stringify(order)}'`;
  const give = async <T>(order: DeviceOrder): Promise<Result<T>> =>
    JSON.parse(await lab.ask(command(order), LIMIT));

  return {
    bind: (device, more) => give({ order: 'bind', device, ...more }),
    release: (device, more) => give({ order: 'release', device, ...more }),
    async list() {
      const nothing: Device = { vmId: '', kind: 'gpu', address: '' };
      return (await give<Device[]>({ order: 'list', device: nothing })).result ?? [];
    },
    async insist(order) {
      const deaths = '/tmp/deaths';
      await lab.ask(`rm -f ${deaths}`);
      for (;;) {
        const { status, stdout } = await lab.run(command({ ...order, deaths }), LIMIT);
        if (status !== 0) continue;
        const died = (await lab.ask(`cat ${deaths}`)).trim().split('\n');
        return { result: JSON.parse(stdout).result, deaths: died };
      }
    },
  };
}
