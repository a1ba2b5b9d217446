/**
 * One life of an agent, as a program: it is given a spec, and ends by itself once the VM is in the
 * state that was asked for. At the first point that no life before it died at, which is before or
 * after a change of the host, it dies as by kill -9, and the next one starts where it left the host.
 */
import { readFileSync } from 'node:fs';
import type { HostSpec } from '@gantry/agent/spec';
import { startDirectAgent } from './direct-agent.ts';
import { type MachinePlace, openHostDriver } from './real-host-driver.ts';
import { withSteps } from './steps.ts';

export type MortalAgentOrder = {
  place: MachinePlace;
  stateDirectory: string;
  spec: HostSpec;
  vmId: string;
  revision: string;
  state: string;
  deaths: string[];
};

const order = JSON.parse(readFileSync(0, 'utf8')) as MortalAgentOrder;
const pass = (point: string) => {
  if (order.deaths.includes(point)) return;
  process.stdout.write(point, () => process.kill(process.pid, 'SIGKILL'));
  // Nothing of this life goes on while the last word is being written.
  return new Promise<void>(() => {});
};

const driver = await openHostDriver(order.place);
const agent = await startDirectAgent({
  driver: withSteps(driver, {
    before: (step) => pass(`before ${step}`),
    after: (step) => pass(`after ${step}`),
  }),
  stateDirectory: order.stateDirectory,
  onReport: async (direct) => {
    if (direct.stateOf(order.vmId, order.revision) !== order.state) return;
    await direct.stop();
    process.exit(0);
  },
});
agent.give(order.spec);
