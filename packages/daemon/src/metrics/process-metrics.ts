import { readdir, readFile } from 'node:fs/promises';
import type { Metrics } from './metrics.ts';

/** How often the lag of the event loop is measured. More often would wake an idle process for nothing. */
const LAG_EVERY_MS = 500;
const LAG_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Adds what every process has: CPU, memory, open files and the lag of the event loop. The names are those
 * that clients of Prometheus share. prom-client's own set is not used, because it wakes the process a
 * hundred times a second and names some gauges as if they were counters.
 */
export function addProcessMetrics(metrics: Metrics): void {
  metrics.counterOf({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, user and system.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  metrics.gaugeOf({
    name: 'process_start_time_seconds',
    help: 'When the process was started, in seconds since 1970.',
    read: () => performance.timeOrigin / 1_000,
  });
  metrics.gaugeOf({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process.',
    read: () => process.memoryUsage.rss(),
  });
  metrics.gaugeOf({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Memory of the process that JavaScript objects use.',
    read: () => process.memoryUsage().heapUsed,
  });
  addOpenFiles(metrics);
  addEventLoopLag(metrics);
}

/** Every connection is an open file. A process that has none left accepts no connection. */
function addOpenFiles(metrics: Metrics): void {
  let open: number | undefined;
  let max: number | undefined;
  metrics.beforeScrape(async () => {
    open = (await readdir('/proc/self/fd').catch(() => undefined))?.length;
    const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
    const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    max = soft === undefined ? undefined : Number(soft);
  });
  metrics.gaugeOf({
    name: 'process_open_fds',
    help: 'Number of open files.',
    read: () => open ?? [],
  });
  metrics.gaugeOf({
    name: 'process_max_fds',
    help: 'The limit of open files.',
    read: () => max ?? [],
  });
}

function addEventLoopLag(metrics: Metrics): void {
  const lag = metrics.histogram({
    name: 'gantry_event_loop_lag_seconds',
    help: 'How late a timer is that is due every 500 ms: how long events wait for the process.',
    buckets: LAG_BUCKETS,
  });
  let dueMs = performance.now() + LAG_EVERY_MS;
  setInterval(() => {
    const nowMs = performance.now();
    lag.observe(Math.max(0, nowMs - dueMs) / 1_000);
    dueMs = nowMs + LAG_EVERY_MS;
  }, LAG_EVERY_MS).unref();
}
