/**
 * One run of an agent, as a program. It receives a spec and ends when the VM has the requested
 * state. Before or after a change of the host, at the first point at which no earlier run was
 * killed, it kills itself with SIGKILL; the next run continues from there.
 */
import { readFileSync, writeSync } from 'node:fs';
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
  // Parts of a VM are changed at the same time, and none of them may reach another point meanwhile.
  writeSync(process.stdout.fd, point);
  process.kill(process.pid, 'SIGKILL');
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
