import { createHash } from 'node:crypto';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { updateHostNumbers } from '@gantry/db/queries/settle/settle-hosts';
import type { AttachedHost } from '../deliver/attached-hosts.ts';
import type { HealthRule } from '../health/health-rules.ts';
import { recordInventory } from '../inventory/record-inventory.ts';
import type { HostReport } from './host-report.ts';
import { settleReport } from './settle-report.ts';
import { Turns } from './turns.ts';

export type Settling = {
  /**
   * Resolves when the host's first report may be read; its turn lasts until that is settled, or given
   * up. The first report is whole, with all the host is made of: a fleet that comes at once would
   * fill the memory with them.
   */
  turn(host: AttachedHost): Promise<void>;
  giveUpTurn(host: AttachedHost): void;
  take(host: AttachedHost, report: HostReport): void;
  stop(): Promise<void>;
};

type SettlingOptions = {
  sql: Sql;
  log: Log;
  /** What devices' health is judged by. */
  rules: readonly HealthRule[];
  /** Reports settled at the same time: each takes a connection. */
  concurrency: number;
  onSettled(hostId: string): void;
};

const RETRY_MS = 500;

/**
 * Settles reports, the newest of each host and one at a time per host. A report is whole, so one that
 * was overtaken before its turn is not missed; but what only it carried (inventory, serial logs) is
 * handed on to the next.
 */
export function startSettling(options: SettlingOptions): Settling {
  const { sql, log, rules, concurrency, onSettled } = options;
  const queue = new Set<AttachedHost>();
  const failed = new Set<AttachedHost>();
  const running = new Set<Promise<void>>();
  // So many that the next is here when one is settled; those that wait long outlive the young heap.
  const turns = new Turns<AttachedHost>(2 * concurrency);
  let stopped = false;

  const settle = async (host: AttachedHost) => {
    const report = host.unsettled;
    if (!report) return;
    host.unsettled = null;
    const { hostId } = host.stream;
    const { streamEpoch } = host;
    const { inventory } = report;
    try {
      if (inventory) await recordInventory({ sql, log, rules, hostId, streamEpoch, inventory });
      const digest = digestOf(report);
      const { acceptedNumber, firewallNumber } = report;
      // Words about VMs and disks say what they answer: the same ones again can mean nothing new. The
      // host then only took a newer spec and has its rules in force, as most specs ask no more.
      const settled =
        digest === host.settledDigest
          ? await updateHostNumbers(sql, { hostId, streamEpoch, acceptedNumber, firewallNumber })
          : await settleReport({ sql, hostId, streamEpoch, report });
      if (!settled) host.stream.cut('the host has another stream, or was fenced');
      host.settledDigest = digest;
      onSettled(hostId);
    } catch (error) {
      log.error({ error, hostId }, 'a report was not settled; it is tried again');
      host.unsettled = merge(report, host.unsettled);
      failed.add(host);
    }
  };

  const pump = () => {
    for (const host of queue) {
      if (running.size >= concurrency || stopped) return;
      queue.delete(host);
      host.settling = true;
      const run = settle(host).finally(() => {
        host.settling = false;
        turns.leave(host);
        running.delete(run);
        if (host.unsettled && !failed.has(host)) queue.add(host);
        pump();
      });
      running.add(run);
    }
  };

  const retry = startLoop({
    ...{ name: 'settle-again', everyMs: RETRY_MS, log },
    body: async () => {
      for (const host of failed) if (!host.settling) queue.add(host);
      failed.clear();
      pump();
    },
  });

  return {
    turn: (host) => turns.enter(host),
    giveUpTurn: (host) => turns.leave(host),
    take(host, report) {
      if (report.unchanged) {
        // With nothing before it there is nothing to settle.
        if (!host.unsettled && !host.settling) turns.leave(host);
        return;
      }
      host.unsettled = host.unsettled ? merge(host.unsettled, report) : report;
      if (host.settling) return;
      queue.add(host);
      pump();
    },
    async stop() {
      stopped = true;
      await retry.stop();
      await Promise.all(running);
    },
  };
}

/** The later report is the truth; what it leaves out because the earlier one said it is kept. */
function merge(earlier: HostReport, later: HostReport | null): HostReport {
  if (!later) return earlier;
  const newer = new Set(later.serialLogs.map(({ vmId }) => vmId));
  return {
    ...later,
    inventory: later.inventory ?? earlier.inventory,
    serialLogs: [...earlier.serialLogs.filter(({ vmId }) => !newer.has(vmId)), ...later.serialLogs],
  };
}

/** Of all but the numbers and the inventory, which are settled by themselves. */
function digestOf(report: HostReport): string {
  const { inventory: _, acceptedNumber: __, firewallNumber: ___, ...words } = report;
  return createHash('sha1').update(JSON.stringify(words)).digest('base64');
}
