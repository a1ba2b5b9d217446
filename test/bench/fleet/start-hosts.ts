import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { VM } from '../subject.ts';
import { makeMembers, membersFile } from './members.ts';
import type { BenchProcess } from './process.ts';

export type Start = (
  name: string,
  args: string[],
  env: Record<string, string>,
) => Promise<BenchProcess>;

type Hosts = {
  sql: Sql;
  secrets: Secrets;
  hosts: number;
  /** The number of processes that run the hosts. */
  processes: number;
  home: string;
  scheduler: BenchProcess;
  start: Start;
};

const MODEL = 'a40-8';
const PROGRAMS = {
  hosts: path.join(import.meta.dirname, 'hosts.ts'),
  bareHosts: path.join(import.meta.dirname, 'bare-hosts.ts'),
};
const ATTACH_LIMIT_MS = 30 * 60_000;
/**
 * Real hosts do not collect garbage on the cores of the scheduler, so these hosts collect as rarely
 * as possible.
 */
const RARELY_COLLECTING = ['--no-memory-reducer', '--heap-growing-percent=200'];

/** Starts the processes of the hosts. The hosts attach when their process gets its first message. */
export async function startHosts(wanted: Hosts): Promise<BenchProcess[]> {
  const { sql, secrets, hosts, processes, home, scheduler, start } = wanted;
  const files = await makeMembers({
    ...{ sql, secrets, location: VM.location, count: hosts },
    ...{ directory: home, processes },
  });
  return await startPrograms({ program: PROGRAMS.hosts, files, scheduler, start });
}

/** Starts peers with the certificates of hosts that were started before, which do nothing but attach. */
export async function startBareHosts(
  wanted: Pick<Hosts, 'processes' | 'home' | 'scheduler' | 'start'>,
): Promise<BenchProcess[]> {
  const { processes, home, scheduler, start } = wanted;
  const files = Array.from({ length: processes }, (_, i) => membersFile(home, i));
  return await startPrograms({ program: PROGRAMS.bareHosts, files, scheduler, start });
}

type Programs = Pick<Hosts, 'scheduler' | 'start'> & { program: string; files: string[] };

function startPrograms({ program, files, scheduler, start }: Programs): Promise<BenchProcess[]> {
  return Promise.all(
    files.map((file) =>
      start('hosts', [...RARELY_COLLECTING, '--import', 'tsx', program], {
        BENCH_HOSTS_FILE: file,
        BENCH_MODEL: MODEL,
        BENCH_SCHEDULER: `127.0.0.1:${scheduler.ready['fleet_port']}`,
      }),
    ),
  );
}

export async function waitUntilAttached(
  sql: Sql,
  { hosts, signal }: { hosts: number; signal: AbortSignal },
): Promise<void> {
  const begun = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const [known] = await sql<{ count: number }[]>`
      select count(*)::int from hosts where scheduler_id is not null and inventory is not null`;
    if (known?.count === hosts) return;
    if (performance.now() - begun > ATTACH_LIMIT_MS)
      throw new Error(`only ${known?.count} of ${hosts} hosts have attached`);
    await delay(1_000, undefined, { signal });
  }
}
