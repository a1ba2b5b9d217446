/**
 * The agent of a host as a separate process in the host's network, without a control plane. It receives
 * specs over its channel and replies with its timings when a report has the expected state. It ends
 * with the channel; its VMs keep running.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { readHostDriverSettings } from '@gantry/agent/libvirt/host-driver-settings';
import { openLibvirtHostDriver } from '@gantry/agent/libvirt/libvirt-host-driver';
import type { HostSpec } from '@gantry/agent/spec';
import { createSettingsReader } from '@gantry/daemon/settings';
import { startDirectAgent } from '@gantry/testkit/real-host/direct-agent';
import { testLog } from '@gantry/testkit/real-host/real-host-driver';
import { type Note, timeConnections, withTimings } from './timings.ts';

export type AgentOrder = { spec: HostSpec | null; vmId: string; revision: string; state: string };

export type AgentReply = {
  /** From the spec's arrival to the report. */
  tookMs: number;
  cpuMs: number;
  childrenCpuMs: number;
  /**
   * Calls of the host driver and of libvirt. A call that has not ended is counted until the report.
   */
  timings: { name: string; tookMs: number }[];
  /** How often each program was run. */
  programs: Record<string, number>;
};

const TICK_MS = 10;

type Span = { name: string; begun: number; ended: number | null };

let spans: Span[] = [];
let children: { spawnfile?: string }[] = [];
let waiting: { order: AgentOrder; begun: number; cpuMs: number; childrenCpuMs: number } | null =
  null;

const note: Note = (name) => {
  const span: Span = { name, begun: performance.now(), ended: null };
  spans.push(span);
  return () => {
    span.ended = performance.now();
  };
};
timeConnections(note);
subscribe('child_process', (message) => {
  children.push((message as { process: { spawnfile?: string } }).process);
});

const reader = createSettingsReader({ ...process.env, GANTRY_STAND_IN_DEVICES: '1' });
const driver = await openLibvirtHostDriver(readHostDriverSettings(reader), testLog);
const agent = await startDirectAgent({
  driver: withTimings(driver, note),
  stateDirectory: reader.text('GANTRY_STATE_DIRECTORY'),
  onReport: () => reply(),
});
process.on('message', (order: AgentOrder) => {
  spans = [];
  children = [];
  waiting = { order, begun: performance.now(), cpuMs: cpuMs(), childrenCpuMs: childrenCpuMs() };
  if (order.spec) agent.give(order.spec);
  else reply();
});
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.send?.({ ready: (await driver.readInventory()).devices?.[0]?.address ?? '' });

function reply(): void {
  if (!waiting) return;
  const { order, begun, ...before } = waiting;
  if (agent.stateOf(order.vmId, order.revision) !== order.state) return;
  waiting = null;
  const programs: Record<string, number> = {};
  for (const { spawnfile = '' } of children) programs[spawnfile] = (programs[spawnfile] ?? 0) + 1;
  const now = performance.now();
  const timings = spans.map((span) => ({
    ...{ name: span.name, tookMs: (span.ended ?? now) - span.begun },
  }));
  process.send?.({
    ...{ tookMs: now - begun, timings, programs },
    cpuMs: cpuMs() - before.cpuMs,
    childrenCpuMs: childrenCpuMs() - before.childrenCpuMs,
  } satisfies AgentReply);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Of child processes that have ended: fields 16 and 17. */
function childrenCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
