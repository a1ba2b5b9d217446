import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '@gantry/testkit/real-host/free-port';
import type { LibvirtHost } from '@gantry/testkit/real-host/host';
import { vi } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const { renderRules } = await import(`${root}/scripts/monitoring/render-rules.mjs`);

/** Everything happens so many times as fast as in production. */
const SPEED = 120;

/** Where the jobs of the rules are scraped. */
export type Targets = Record<'gantry-api' | 'gantry-scheduler' | 'gantry-agent', string>;
type Options = {
  /** Prometheus runs in the network of this host, because its agent serves metrics there. */
  host: LibvirtHost;
  targets: Targets;
  /** Where Alertmanager delivers. */
  receiverUrl: string;
};

export type Monitoring = {
  /** The state of each rule: inactive, pending or firing. Empty before all were evaluated. */
  rules(): Promise<Map<string, string>>;
  stop(): Promise<void>;
};

/**
 * Starts Debian's Prometheus and Alertmanager with the files of deploy/monitoring. Only durations, targets and
 * the receiver differ.
 */
export async function startMonitoring({
  host,
  targets,
  receiverUrl,
}: Options): Promise<Monitoring> {
  const directory = host.directory;
  const running: ChildProcess[] = [];
  const stop = async () => {
    for (const child of running.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  };
  const start = ([program, ...args]: [string, ...string[]]) => {
    running.push(spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore'] }));
  };
  const [alertPort, port] = [await freePort(), await freePort()];
  const file = async (name: string, text: string) => {
    const place = path.join(directory, name);
    await writeFile(place, text);
    return place;
  };
  const rules = await file('gantry.rules.yml', renderRules({ scale: 1 / SPEED }));
  const alertmanager = await file('alertmanager.yml', quickAlertmanager(receiverUrl));
  const config = await file('prometheus.yml', quickPrometheus({ rules, targets, alertPort }));
  try {
    start([
      'prometheus-alertmanager',
      `--config.file=${alertmanager}`,
      `--storage.path=${path.join(directory, 'alertmanager')}`,
      `--web.listen-address=127.0.0.1:${alertPort}`,
      '--cluster.listen-address=',
    ]);
    await host.reachLoopback(alertPort);
    start(
      host.command(
        'prometheus',
        `--config.file=${config}`,
        `--storage.tsdb.path=${path.join(directory, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ),
    );
    const ask = async (query: string) =>
      JSON.parse(await host.runIn('curl', '-sf', `http://127.0.0.1:${port}/api/v1/${query}`)).data;
    await vi.waitFor(() => ask('status/buildinfo'), { timeout: 60_000, interval: 200 });
    return {
      async rules() {
        const { groups } = (await ask('rules')) as { groups: { rules: Rule[] }[] };
        const all = groups.flatMap((group) => group.rules);
        const isEvaluated = all.every(({ health }) => health === 'ok');
        return new Map(isEvaluated ? all.map(({ name, state }) => [name, state]) : []);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Rule = { name: string; state: string; health: string };

function deployed(name: string): string {
  return readFileSync(path.join(root, 'deploy/monitoring', name), 'utf8');
}

function quickAlertmanager(receiverUrl: string): string {
  return deployed('alertmanager.yml')
    .replace(/group_wait: \w+/, 'group_wait: 0s')
    .replace(/group_interval: \w+/, 'group_interval: 500ms')
    .replaceAll('http://127.0.0.1:9999', receiverUrl);
}

type Files = { rules: string; targets: Targets; alertPort: number };

function quickPrometheus({ rules, targets, alertPort }: Files): string {
  const listed = Object.entries(targets).map(
    ([job, target]) =>
      `  - job_name: ${job}\n    static_configs:\n      - targets: ['${target}']\n`,
  );
  const [head] = deployed('prometheus.yml').split('scrape_configs:\n');
  return `${head}scrape_configs:\n${listed.join('')}`
    .replaceAll(/_interval: 15s/g, '_interval: 500ms')
    .replace('gantry.rules.yml', rules)
    .replace('127.0.0.1:9093', `127.0.0.1:${alertPort}`);
}
