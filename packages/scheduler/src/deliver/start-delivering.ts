import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import type { Changes } from '@gantry/db/queries/changes';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { readWithGenericPlan } from '@gantry/db/transact';
import { type AttachedHost, type AttachedHosts, consolesOf } from '../attached/attached-hosts.ts';
import { withNeighbours } from '../fleet/outgoing-spec.ts';
import { toOutgoingSpec } from './host-spec.ts';
import { NetworkMembers } from './network-members.ts';

export type Delivering = {
  /** Sends these hosts their specs, even if unchanged. Hosts that are not attached here are ignored. */
  request(...hostIds: string[]): void;
  /** Sends the host the consoles that it should have open. */
  requestConsoles(hostId: string): void;
  /** Sends these changes to the hosts that they concern. */
  note(changes: Pick<Changes, 'hosts' | 'networkIds'>): void;
  /** Changes of networks may have been missed. */
  noteAll(): void;
  /** The stream of the host has ended. */
  leave(host: AttachedHost): void;
  stop(): Promise<void>;
};

type DeliveringOptions = {
  sql: Sql;
  log: Log;
  hosts: AttachedHosts;
  pollMs: number;
  /** The fingerprints of the authorities that hosts should trust; the first one issues certificates. */
  authorities?: () => string[];
};

/** The number of specs read in one statement. */
const BATCH_HOSTS = 100;
/** Hosts get changes that only concern their networks at most this often. */
const SPAN_PAUSE_MS = 1_000;

/**
 * Sends each attached host its complete spec when it attaches and whenever the number of the spec has
 * grown. Delivery is at least once; the agent rejects old specs by their era and number.
 */
export function startDelivering({
  sql,
  log,
  hosts,
  pollMs,
  authorities = () => [],
}: DeliveringOptions): Delivering {
  const requested = new Set<string>();
  /** Changed hosts and the number that each has to get, unless it is sent meanwhile for another reason. */
  const changedTo = new Map<string, number>();
  /** Hosts with changes of their networks only, that got a spec a moment ago. */
  const postponed = new Set<string>();
  const members = new NetworkMembers(sql);

  const deliver = async (hostIds: string[]) => {
    for (const row of await readWithGenericPlan(sql, (tx) => readHostSpecs(tx, hostIds))) {
      const host = hosts.get(row.host_id);
      if (!host) continue;
      if (row.awaits_comparison) {
        // A host that will be compared is requested again afterwards. This one reported too early.
        if (host.isCompared) host.stream.abort('an era has begun: attach again');
        continue;
      }
      const ofStream = { consoles: consolesOf(host), authoritySha256s: authorities() };
      const spec = toOutgoingSpec(row, ofStream);
      const { hash } = spec.id;
      if (!host.sent.record({ era: Number(row.era), number: Number(row.number), hash })) {
        host.stream.abort('the database went back to an earlier state: attach again');
        continue;
      }
      host.sentAtMs = performance.now();
      const networkIds = row.spans ? row.networks.map(({ id }) => id) : [];
      if (host.stream.takesPieces) host.stream.send(spec);
      else {
        const neighbours = await members.neighboursOf(row.host_id, networkIds);
        if (hosts.get(row.host_id) !== host) continue;
        host.stream.send(withNeighbours(spec, neighbours));
      }
      members.follow(host, networkIds);
    }
  };

  const isBehind = (hostId: string, number: number) =>
    number > (hosts.get(hostId)?.sent.lastNumber ?? Number.POSITIVE_INFINITY);

  const deliverRequested = async () => {
    for (const [hostId, number] of changedTo) if (isBehind(hostId, number)) requested.add(hostId);
    changedTo.clear();
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
      // First the requested hosts, because their VMs or consoles wait for the spec.
      await deliverRequested();
      for (const hostId of postponed) {
        const host = hosts.get(hostId);
        if (host && performance.now() < host.sentAtMs + SPAN_PAUSE_MS) continue;
        postponed.delete(hostId);
        if (host) requested.add(hostId);
      }
      await deliverRequested();
      await members.spread();
    },
  });

  return {
    request(...hostIds) {
      for (const hostId of hostIds) if (hosts.get(hostId)) requested.add(hostId);
      loop.nudge();
    },
    requestConsoles(hostId) {
      const host = hosts.get(hostId);
      if (host && !host.stream.sendConsoles(consolesOf(host))) this.request(hostId);
    },
    note({ hosts: changed, networkIds }) {
      members.noteChanges(networkIds);
      for (const { host_id, number, own_number } of changed) {
        if (isBehind(host_id, Number(own_number))) changedTo.set(host_id, Number(own_number));
        else if (isBehind(host_id, Number(number))) postponed.add(host_id);
      }
      if (changedTo.size > 0) loop.nudge();
    },
    noteAll: () => members.noteAll(),
    leave: (host) => members.follow(host, []),
    stop: () => loop.stop(),
  };
}
