import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openLab } from '@gantry/agent/network/testing/lab';
import type { HostSpec } from '@gantry/agent/spec';
import { makeInterface, makeRule, makeSpec, makeVm } from '@gantry/agent/testing/make-spec';
import { startDirectAgent } from '@gantry/testkit/real-host/direct-agent';
import { row } from '../fleet/table.ts';
import { percentile } from '../percentile.ts';
import { NetHost, nowMs, PORTS } from './host.ts';
import { ordinaryRules } from './rules.ts';

/**
 * Measures the time from the arrival of a spec in which one of many rules differs to the first
 * packet that obeys the new rule and the last packet that does not. The agent writes the spec to
 * disk, replaces its tables and reads them back. The packets go between two of many VMs.
 */
export type ChangesOptions = { changes: number; vms: number; rules: number; signal: AbortSignal };

const NETWORK = 'network-1';
export const GOAL_MS = 500;

export async function measureChanges({ changes, vms, rules, signal }: ChangesOptions) {
  const stateDirectory = await mkdtemp(path.join(tmpdir(), 'gantry-bench-net-'));
  const lab = await openLab();
  let host: NetHost | undefined;
  try {
    host = await NetHost.open(lab);
    const specOf = (number: number, port: string) => makeNumbered(number, { port, vms, rules });
    const agent = await startDirectAgent({ driver: host.driver, stateDirectory });
    try {
      agent.give(specOf(1, PORTS[0]));
      while (
        !Array.from({ length: vms }, (_, at) => at).every(
          (at) => agent.stateOf(`vm-${at}`, '1') === 'RUNNING',
        )
      ) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await host.startSending();
      const tookMs: number[] = [];
      for (let change = 1; change <= changes; change += 1) {
        const port = PORTS[change % 2] ?? PORTS[0];
        await host.heard();
        const begun = nowMs();
        agent.give(specOf(change + 1, port));
        tookMs.push(await host.untilObeyed(port, { begun, signal }));
      }
      printChanges(tookMs, { vms, rules });
    } finally {
      await agent.stop();
    }
  } finally {
    host?.stop();
    await lab.close();
    await rm(stateDirectory, { recursive: true });
  }
}

export function printChanges(
  tookMs: number[],
  { vms, rules }: { vms: number; rules: number },
): void {
  const what = `${tookMs.length} changes, ${rules} rules, ${vms} VMs`;
  row(`${what}: half within`, percentile(tookMs, 0.5), 'ms');
  row('  99 of 100 within', percentile(tookMs, 0.99), 'ms', { most: GOAL_MS });
  row('  the least', Math.min(...tookMs), 'ms');
}

type Size = { port: string; vms: number; rules: number };

function makeNumbered(number: number, { port, vms, rules }: Size): HostSpec {
  const udp = { networkId: NETWORK, protocols: ['udp'] };
  return makeSpec(number, {
    vms: Array.from({ length: vms }, (_, at) =>
      makeVm(`vm-${at}`, {
        interfaces: [
          makeInterface(`interface-${at}`, {
            ...{ networkId: NETWORK, privateIpv4: `10.0.0.${at + 2}/24` },
            mac: `02:00:00:00:00:${(at + 1).toString(16).padStart(2, '0')}`,
          }),
        ],
      }),
    ),
    firewallRules: [
      makeRule('out', { ...udp, direction: 'DIRECTION_EGRESS', destinationPorts: [] }),
      makeRule('changing', { ...udp, destinationPorts: [port] }),
      ...ordinaryRules(rules - 2, NETWORK),
    ],
  });
}
