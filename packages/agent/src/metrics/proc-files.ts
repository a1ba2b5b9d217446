/** Reads two files of /proc. */

/** The seconds of all CPUs together, by mode. */
export type CpuTimes = Record<string, number>;
export type Memory = { totalBytes: number; availableBytes: number };

const MODES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'];
/** The unit of /proc/stat for programs is 10 ms on every architecture. */
const TICKS_PER_SECOND = 100;

/** Parses /proc/stat. The time of guests is already part of user and nice. */
export function parseCpuTimes(stat: string): CpuTimes {
  const [, line] = /^cpu +(.+)$/m.exec(stat) ?? [];
  const ticks = (line ?? '').split(' ').map(Number);
  const known = MODES.flatMap((mode, index) => {
    const value = ticks[index];
    return value === undefined || Number.isNaN(value) ? [] : [[mode, value / TICKS_PER_SECOND]];
  });
  return line === undefined ? {} : Object.fromEntries(known);
}

/** Parses /proc/meminfo. Null if the file does not have both values. */
export function parseMemory(meminfo: string): Memory | null {
  const bytes = (name: string) => {
    const [, kib] = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(meminfo) ?? [];
    return kib === undefined ? null : Number(kib) * 1_024;
  };
  const [totalBytes, availableBytes] = [bytes('MemTotal'), bytes('MemAvailable')];
  return totalBytes === null || availableBytes === null ? null : { totalBytes, availableBytes };
}
