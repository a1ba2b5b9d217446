import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { readOldestOpenXid, readSpecChanges } from '@gantry/db/queries/hosts/host-changes';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { readWithGenericPlan } from '@gantry/db/transact';
import type { AttachedHosts } from './attached-hosts.ts';
import { toHostSpec } from './host-spec.ts';

export type Delivering = {
  /** Those of the hosts that are attached here are to get their specs, changed or not; others are not ours. */
  want(...hostIds: string[]): void;
  stop(): Promise<void>;
};

type DeliveringOptions = { sql: Sql; log: Log; hosts: AttachedHosts; pollMs: number };

/** Specs read in one statement. */
const BATCH_HOSTS = 100;
/**
 * A VM that comes or goes is told to every host that has one of its network. Those it is not on hear
 * of several at once, so that a network of hundreds of VMs does not have hundreds of hosts busy with
 * each of them.
 */
const SPAN_PAUSE_MS = 1_000;

/**
 * Sends each attached host its whole wanted state, when it attaches and whenever the number of that
 * state has grown. What was sent twice, or late, is the agent's to refuse by the same number.
 */
export function startDelivering({ sql, log, hosts, pollMs }: DeliveringOptions): Delivering {
  const wanted = new Set<string>();
  /** Hosts that have only to hear of VMs elsewhere, and were sent a spec a moment ago. */
  const postponed = new Set<string>();
  let since: string | null = null;

  const deliver = async (hostIds: string[]) => {
    for (const row of await readWithGenericPlan(sql, (tx) => readHostSpecs(tx, hostIds))) {
      const host = hosts.get(row.host_id);
      if (!host || Number(row.number) < host.sentNumber) continue;
      host.sentNumber = Number(row.number);
      host.sentAtMs = performance.now();
      const consoles = [...host.consoles.values()].map(({ id, vmId }) => ({ id, vmId }));
      host.stream.send({ ...toHostSpec(row), consoles });
    }
  };

  const deliverWanted = async () => {
    const hostIds = [...wanted];
    for (let i = 0; i < hostIds.length; i += BATCH_HOSTS) {
      const batch = hostIds.slice(i, i + BATCH_HOSTS);
      // Before they are read: a host that attaches meanwhile is wanted anew.
      for (const hostId of batch) wanted.delete(hostId);
      try {
        await deliver(batch);
      } catch (error) {
        for (const hostId of batch) wanted.add(hostId);
        throw error;
      }
    }
  };

  const loop = startLoop({
    name: 'deliver',
    everyMs: pollMs,
    log,
    body: async () => {
      // What changed before is in the spec that each host gets when it attaches.
      since ??= await readOldestOpenXid(sql);
      // First those that somebody has asked for: they are waited for.
      await deliverWanted();
      const { xmin, changed } = await readSpecChanges(sql, { since });
      for (const { host_id, number, own_number } of changed) {
        const host = hosts.get(host_id);
        if (!host || Number(number) <= host.sentNumber) continue;
        if (Number(own_number) > host.sentNumber) wanted.add(host_id);
        else postponed.add(host_id);
      }
      for (const hostId of postponed) {
        const host = hosts.get(hostId);
        if (host && performance.now() < host.sentAtMs + SPAN_PAUSE_MS) continue;
        postponed.delete(hostId);
        if (host) wanted.add(hostId);
      }
      // Only now: whatever was not read because of an error is read again.
      since = xmin;
      await deliverWanted();
    },
  });

  return {
    want(...hostIds) {
      for (const hostId of hostIds) if (hosts.get(hostId)) wanted.add(hostId);
      loop.nudge();
    },
    stop: () => loop.stop(),
  };
}
