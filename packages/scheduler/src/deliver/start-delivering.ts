import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import type { Changes } from '@gantry/db/queries/changes';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { KnownRules } from '@gantry/db/queries/hosts/known-rules';
import { readWithGenericPlan } from '@gantry/db/transact';
import { type AttachedHost, type AttachedHosts, consolesOf } from '../attached/attached-hosts.ts';
import { withNeighbours } from '../fleet/outgoing-spec.ts';
import type { OperationFollower } from '../follow-operations.ts';
import { type OpenVolumeSecret, toOutgoingSpec } from './host-spec.ts';
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
  follower?: Pick<OperationFollower, 'sent'>;
  /** The fingerprints of the authorities that hosts should trust; the first one issues certificates. */
  authorities?: () => string[];
  /** Opens the sealed keys of volumes. The default opens none. */
  openSecret?: OpenVolumeSecret;
};

/** The number of specs read in one statement. */
const BATCH_HOSTS = 100;
/** The loop has nothing to do until it is nudged. */
const IDLE_MS = 1_000;
/** Hosts get changes that only concern their networks at most this often. */
const SPAN_PAUSE_MS = 1_000;
/**
 * Such changes may concern hundreds of hosts, and one tenant may make many of them. After each batch of
 * them the scheduler waits for this many times as long as the batch took, so that it has time for others.
 */
const SPAN_REST = 3;
const MAX_SPAN_REST_MS = 2_000;
/** Small, because hosts whose own VMs changed wait until the batch is sent. */
const SPAN_BATCH_HOSTS = 25;

/**
 * Sends each attached host its complete spec when it attaches and whenever the number of the spec has
 * grown. Delivery is at least once; the agent rejects old specs by their era and number.
 */
export function startDelivering({
  sql,
  log,
  hosts,
  pollMs,
  follower,
  authorities = () => [],
  openSecret = () => null,
}: DeliveringOptions): Delivering {
  const requested = new Set<string>();
  /** Changed hosts and the number that each has to get, unless it is sent meanwhile for another reason. */
  const changedTo = new Map<string, number>();
  /** Hosts with changes of their networks only, and the number that each has to get. */
  const postponed = new Map<string, number>();
  let restsUntilMs = 0;
  const knownRules = new KnownRules();
  const members = new NetworkMembers(sql);

  const deliver = async (hostIds: string[]) => {
    const startMs = Date.now();
    for (const row of await readWithGenericPlan(sql, (tx) =>
      readHostSpecs(tx, hostIds, knownRules),
    )) {
      const host = hosts.get(row.host_id);
      if (!host) continue;
      if (row.awaits_comparison) {
        // A host that will be compared is requested again afterwards. This one reported too early.
        if (host.isCompared) host.stream.abort('an era has begun: attach again');
        continue;
      }
      const ofStream = { consoles: consolesOf(host), authoritySha256s: authorities() };
      const spec = toOutgoingSpec(row, ofStream, openSecret);
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
      follower?.sent(row.host_id, row.vms, { startMs, endMs: Date.now() });
    }
  };

  const isBehind = (hostId: string, number: number) =>
    number > (hosts.get(hostId)?.sent.lastNumber ?? Number.POSITIVE_INFINITY);

  const deliverRequested = async () => {
    for (const [hostId, number] of changedTo) if (isBehind(hostId, number)) requested.add(hostId);
    changedTo.clear();
    const hostIds = [...requested];
    for (let i = 0; i < hostIds.length; i += BATCH_HOSTS)
      await deliverBatch(hostIds.slice(i, i + BATCH_HOSTS));
  };

  const deliverBatch = async (hostIds: string[]) => {
    // Before the read: a host that attaches meanwhile is added again.
    for (const hostId of hostIds) requested.delete(hostId);
    try {
      await deliver(hostIds);
    } catch (error) {
      for (const hostId of hostIds) requested.add(hostId);
      throw error;
    }
  };

  /** Returns whether the host got no spec for a moment, so that a change of its networks may follow. */
  const mayFollow = (hostId: string) =>
    performance.now() >= (hosts.get(hostId)?.sentAtMs ?? 0) + SPAN_PAUSE_MS;

  /** Sends a batch of changes that only concern networks. */
  const deliverPostponed = async () => {
    const startedMs = performance.now();
    if (startedMs < restsUntilMs) return;
    for (const [hostId, number] of postponed)
      if (!isBehind(hostId, number)) postponed.delete(hostId);
    const due = [...postponed.keys()].filter(mayFollow).slice(0, SPAN_BATCH_HOSTS);
    if (due.length === 0) return;
    for (const hostId of due) postponed.delete(hostId);
    await deliverBatch(due);
    const nowMs = performance.now();
    restsUntilMs = nowMs + Math.min(SPAN_REST * (nowMs - startedMs), MAX_SPAN_REST_MS);
  };

  const pauseMs = () => {
    if (requested.size + postponed.size === 0 && !members.hasChanges) return IDLE_MS;
    const restMs = restsUntilMs - performance.now();
    return restMs > 0 ? Math.min(restMs, pollMs) : pollMs;
  };

  const loop = startLoop({
    name: 'deliver',
    everyMs: pauseMs,
    log,
    body: async () => {
      // First the requested hosts, because their VMs or consoles wait for the spec.
      await deliverRequested();
      await deliverPostponed();
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
        else if (isBehind(host_id, Number(number))) postponed.set(host_id, Number(number));
      }
      const isDue = changedTo.size > 0 || members.hasChanges;
      if (isDue || [...postponed.keys()].some(mayFollow)) loop.nudge();
    },
    noteAll() {
      members.noteAll();
      loop.nudge();
    },
    leave: (host) => members.follow(host, []),
    stop: () => loop.stop(),
  };
}
