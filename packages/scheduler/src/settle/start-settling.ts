import { createHash } from 'node:crypto';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { updateHostNumbers } from '@gantry/db/queries/settle/settle-hosts';
import type { AttachedHost } from '../attached/attached-hosts.ts';
import type { HostReport } from '../attached/host-report.ts';
import type { OperationFollower, SettledVm } from '../follow-operations.ts';
import type { HealthRule } from '../health/health-rules.ts';
import { recordInventory } from '../inventory/record-inventory.ts';
import { compareHost } from './compare-host.ts';
import { ConcurrencyGate } from './concurrency-gate.ts';
import { createPoisonControl } from './poison.ts';
import { createProofs, type Proof } from './proof.ts';
import { settleReport } from './settle-report.ts';

export type Settling = {
  /**
   * Resolves when the host's first report may be read. The host holds its place until that report is
   * settled or `leave` is called. A first report contains the whole inventory; without this limit a
   * fleet that attaches at once would fill the memory.
   */
  enter(host: AttachedHost): Promise<void>;
  leave(host: AttachedHost): void;
  settle(host: AttachedHost, report: HostReport): void;
  stop(): Promise<void>;
};

type SettlingOptions = {
  sql: Sql;
  log: Log;
  /** The health rules for devices. */
  rules: readonly HealthRule[];
  /** The number of reports settled at the same time. Each needs a database connection. */
  concurrency: number;
  follower?: Pick<OperationFollower, 'settled'>;
  onSettled(hostId: string): void;
  /** Called if the host needs its spec: with a greater number, or for the first time in an era. */
  onSpecDue(hostId: string): void;
  /** Called with the time that it took to settle a report. */
  onDuration?: (seconds: number) => void;
};

const RETRY_MS = 500;

/**
 * Settles the newest report of each host, one at a time per host. A report is complete, so an older
 * report that still waits is replaced by a newer one. Only its inventory and serial logs, which the
 * newer report may omit, are merged into the newer one.
 */
export function startSettling(options: SettlingOptions): Settling {
  const { sql, log, rules, concurrency, onSettled, onSpecDue, onDuration = () => {} } = options;
  const { follower } = options;
  const proofs = createProofs({ sql, log, onRaised: onSpecDue });
  const poison = createPoisonControl({ sql, log });
  const queue = new Set<AttachedHost>();
  const failed = new Set<AttachedHost>();
  const running = new Set<Promise<void>>();
  // Twice the concurrency, so that the next report is ready when one is settled. More would only
  // wait, and objects that live long leave the young generation of the heap.
  const gate = new ConcurrencyGate<AttachedHost>(2 * concurrency);
  let stopped = false;

  const settleNewest = async (host: AttachedHost) => {
    const report = host.unsettled;
    if (!report) return;
    host.unsettled = null;
    const { hostId } = host.stream;
    const { streamEpoch } = host;
    const { inventory } = report;
    const startedMs = performance.now();
    const startMs = Date.now();
    const onVmsSettled = (vms: SettledVm[]) =>
      follower?.settled(hostId, vms, { startMs, endMs: Date.now() });
    if (inventory) host.agentVersion = inventory.software?.agent ?? '';
    try {
      if (inventory) await recordInventory({ sql, log, rules, hostId, streamEpoch, inventory });
      // An era that begins ends all streams, so this is asked once for each stream.
      const comparison = { sql, hostId, streamEpoch, report, isAhead: false };
      if (!host.isCompared && (await compareHost(comparison))) onSpecDue(hostId);
      host.isCompared = true;
      const proof = await proofs.of(host, report);
      if (!proof) return;
      const digest = digestOf(report, proof);
      const { acceptedNumber } = report;
      const { firewallNumber } = proof;
      // An unchanged digest means that nothing about VMs and disks is new. The host has only accepted
      // a newer spec and applied its firewall rules, so only these two numbers are written.
      const settled =
        digest === host.settledDigest
          ? await updateHostNumbers(sql, { hostId, streamEpoch, acceptedNumber, firewallNumber })
          : await settleReport({
              ...{ sql, hostId, streamEpoch, report, proof },
              onSettled: onVmsSettled,
            });
      if (!settled) host.stream.abort('the host has a newer stream or is fenced, or an era begins');
      host.settledDigest = digest;
      onDuration((performance.now() - startedMs) / 1_000);
      await poison.settled(host);
      onSettled(hostId);
    } catch (error) {
      if (await poison.isSetAside(host, error)) return;
      log.error({ error, host_id: hostId }, 'report not settled; will be retried');
      host.unsettled = merge(report, host.unsettled);
      failed.add(host);
    }
  };

  const pump = () => {
    for (const host of queue) {
      if (running.size >= concurrency || stopped) return;
      queue.delete(host);
      host.settling = true;
      const run = settleNewest(host).finally(() => {
        host.settling = false;
        gate.leave(host);
        running.delete(run);
        if (host.unsettled && !failed.has(host)) queue.add(host);
        pump();
      });
      running.add(run);
    }
  };

  const retry = startLoop({
    name: 'retry-settling',
    everyMs: RETRY_MS,
    log,
    body: async () => {
      for (const host of failed) if (!host.settling) queue.add(host);
      failed.clear();
      pump();
    },
  });

  return {
    enter: (host) => gate.enter(host),
    leave: (host) => gate.leave(host),
    settle(host, report) {
      if (report.unchanged) {
        // Without an earlier report there is nothing to settle.
        if (!host.unsettled && !host.settling) gate.leave(host);
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

/** Returns the later report with the parts of the earlier one that it omits as unchanged. */
function merge(earlier: HostReport, later: HostReport | null): HostReport {
  if (!later) return earlier;
  const newer = new Set(later.serialLogs.map(({ vmId }) => vmId));
  return {
    ...later,
    inventory: later.inventory ?? earlier.inventory,
    storedDisks: later.storedDisks ?? earlier.storedDisks,
    serialLogs: [...earlier.serialLogs.filter(({ vmId }) => !newer.has(vmId)), ...later.serialLogs],
  };
}

/**
 * A digest of everything except the numbers and the inventory, which are settled separately, and what is only compared when an era begins. If the
 * host has orphans, the number is included: an operator who gives an orphan back changes the number of
 * the spec and nothing on the host, and the decision is carried out with the next report.
 */
function digestOf(report: HostReport, { isAccepted }: Proof): string {
  const {
    inventory: _,
    acceptedNumber,
    acceptedHash,
    firewallNumber,
    firewallHash,
    networks,
    storedDisks,
    ...rest
  } = report;
  const hasOrphans = report.vms.some(({ state }) => state === 'VM_OBSERVED_STATE_UNKNOWN');
  return createHash('sha1')
    .update(JSON.stringify([isAccepted, rest, hasOrphans && acceptedNumber]))
    .digest('base64');
}
