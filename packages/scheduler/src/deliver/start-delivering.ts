import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { readOldestOpenXid, readSpecChanges } from '@gantry/db/queries/hosts/host-changes';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { readWithGenericPlan } from '@gantry/db/transact';
import type { AttachedHosts } from '../attached/attached-hosts.ts';
import { toHostSpec } from './host-spec.ts';

export type Delivering = {
  /** Sends these hosts their specs, even if unchanged. Hosts that are not attached here are ignored. */
  request(...hostIds: string[]): void;
  stop(): Promise<void>;
};

type DeliveringOptions = { sql: Sql; log: Log; hosts: AttachedHosts; pollMs: number };

/** The number of specs read in one statement. */
const BATCH_HOSTS = 100;
/**
 * A change of a VM changes the specs of all hosts with VMs in its network. Hosts that do not have the
 * VM itself get such changes at most this often, so that a network of hundreds of VMs does not keep
 * hundreds of hosts busy.
 */
const SPAN_PAUSE_MS = 1_000;

/**
 * Sends each attached host its complete spec when it attaches and whenever the number of the spec has
 * grown. Delivery is at least once; the agent rejects old specs by their number.
 */
export function startDelivering({ sql, log, hosts, pollMs }: DeliveringOptions): Delivering {
  const requested = new Set<string>();
  /** Hosts with changes of VMs on other hosts only, that got a spec a moment ago. */
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

  const deliverRequested = async () => {
    const hostIds = [...requested];
    for (let i = 0; i < hostIds.length; i += BATCH_HOSTS) {
      const batch = hostIds.slice(i, i + BATCH_HOSTS);
      // Before the read: a host that attaches meanwhile is added again.
      for (const hostId of batch) requested.delete(hostId);
      try {
        await deliver(batch);
      } catch (error) {
        for (const hostId of batch) requested.add(hostId);
        throw error;
      }
    }
  };

  const loop = startLoop({
    name: 'deliver',
    everyMs: pollMs,
    log,
    body: async () => {
      // Earlier changes are in the spec that each host gets when it attaches.
      since ??= await readOldestOpenXid(sql);
      // First the requested hosts, because their VMs or consoles wait for the spec.
      await deliverRequested();
      const { xmin, changed } = await readSpecChanges(sql, { since });
      for (const { host_id, number, own_number } of changed) {
        const host = hosts.get(host_id);
        if (!host || Number(number) <= host.sentNumber) continue;
        if (Number(own_number) > host.sentNumber) requested.add(host_id);
        else postponed.add(host_id);
      }
      for (const hostId of postponed) {
        const host = hosts.get(hostId);
        if (host && performance.now() < host.sentAtMs + SPAN_PAUSE_MS) continue;
        postponed.delete(hostId);
        if (host) requested.add(hostId);
      }
      // Only now, so that after an error the same changes are read again.
      since = xmin;
      await deliverRequested();
    },
  });

  return {
    request(...hostIds) {
      for (const hostId of hostIds) if (hosts.get(hostId)) requested.add(hostId);
      loop.nudge();
    },
    stop: () => loop.stop(),
  };
}
