import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { row } from '../fleet/table.ts';
import { median } from '../median.ts';
import { startAgentOfFleet } from './fleet.ts';
import { cpuMsOf } from './process.ts';

/**
 * Measures the installed agent while it is attached to a scheduler, its VMs run and nothing
 * changes.
 */
type IdleOptions = { rounds: number; seconds: number; vms: number; signal: AbortSignal };

const GOALS = { percent: 0.5, mib: 90 };
/** By then the guests have booted and their console output has been reported. */
const SETTLING_MS = 30_000;
const KIB_PER_MIB = 1_024;

export async function measureIdle({ rounds, seconds, vms, signal }: IdleOptions): Promise<void> {
  const { agent, stop } = await startAgentOfFleet({ vms, signal });
  try {
    await delay(SETTLING_MS, undefined, { signal });
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) {
      measured.push(await measureRound(agent, seconds, signal));
    }
    const of = (value: (round: Measured) => number) => measured.map(value);
    const percent = of((round) => round.percent);
    row('VMs that run', vms, '');
    row('the agent at rest', median(percent), '% of a core', { most: GOALS.percent });
    row('  the most of the rounds', Math.max(...percent), '% of a core');
    row('its memory (RSS)', median(of(({ rssMib }) => rssMib)), 'MiB', { most: GOALS.mib });
    row('  of that its own share (PSS)', median(of(({ pssMib }) => pssMib)), 'MiB');
    row('  of that not of files (anonymous)', median(of(({ ownMib }) => ownMib)), 'MiB');
    row('  the most it ever had', Math.max(...of(({ peakMib }) => peakMib)), 'MiB');
  } finally {
    await stop();
  }
}

type Measured = {
  percent: number;
  rssMib: number;
  pssMib: number;
  ownMib: number;
  peakMib: number;
};

async function measureRound(
  { pid = 0 }: ChildProcess,
  seconds: number,
  signal: AbortSignal,
): Promise<Measured> {
  const [cpuBefore, begun] = [cpuMsOf(pid), performance.now()];
  await delay(seconds * 1_000, undefined, { signal });
  const tookMs = performance.now() - begun;
  const percent = ((cpuMsOf(pid) - cpuBefore) / tookMs) * 100;
  const mapped = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mib = (field: string) => fieldOf(mapped, field) / KIB_PER_MIB;
  const peakKib = fieldOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM');
  const memory = { rssMib: mib('Rss'), pssMib: mib('Pss'), ownMib: mib('Anonymous') };
  return { percent, ...memory, peakMib: peakKib / KIB_PER_MIB };
}

/** Parses lines such as `Rss: 1234 kB`. */
function fieldOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]);
}
