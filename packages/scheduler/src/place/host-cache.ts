/**
 * A cache of a location's hosts that reads only hosts that changed. It is filled when the location's
 * lease is acquired. After any failure the user of the cache drops it and creates a new one.
 *
 * The cache keeps for each host the id of the transaction that had changed it last when it was read. A
 * poll lists the hosts changed by transactions that were still open at the previous poll, however late
 * they commit, and reads those whose transaction id differs. A commit of this scheduler updates the
 * transaction id without a read, but only if no other transaction changed the host in between.
 */
import type { Sql } from '@gantry/db/connect';
import { readHostChanges, readOldestOpenXid } from '@gantry/db/queries/hosts/host-changes';
import { listHostIds, readPlacementHosts } from '@gantry/db/queries/placement/placement-hosts';
import type { HostMove } from '@gantry/db/queries/placement/placements';
import { type HostIndex, newHostIndex } from '@gantry/placement/host-index';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';

export type HostCache = {
  index: HostIndex;
  /**
   * Hosts whose rows were locked when a placement on them was to be committed. A transaction whose
   * session hangs keeps its locks for as long as it hangs.
   */
  locked: Set<string>;
  /** Returns whether the host was read after this transaction changed it, or changed by this scheduler. */
  isCurrent(hostId: string, changedXid: string | null): boolean;
  /**
   * Compares the cache with the number of hosts that the location has. Returns true if hosts were removed;
   * then the next refresh forgets them.
   */
  noteCount(hosts: number): boolean;
  /** Reads the changed hosts; the first time, all hosts. Returns whether anything changed. */
  refresh(): Promise<boolean>;
  /** Reads these hosts again unconditionally. */
  reread(hostIds: readonly string[]): Promise<void>;
  /** Records that a commit of this scheduler changed the hosts. The index has the change already. */
  committed(moves: readonly HostMove[]): void;
};

/**
 * How many hosts are read at a time. Ten thousand at once would block the process for more than a second,
 * and its leases would expire.
 */
const SLICE_HOSTS = 250;

type CacheOptions = { sql: Sql; location: string; sliceHosts?: number };

export function createHostCache({
  sql,
  location,
  sliceHosts = SLICE_HOSTS,
}: CacheOptions): HostCache {
  const index = newHostIndex();
  const knownAs = new Map<string, string>();
  let since: string | null = null;
  /** A removed host does not appear among the changes. */
  let hasRemoved = false;

  /** Each slice has its own snapshot. The next refresh finds what changes in between. */
  const read = async (hostIds: readonly string[]) => {
    for (let i = 0; i < hostIds.length; i += sliceHosts)
      await readSlice(hostIds.slice(i, i + sliceHosts));
  };

  const readSlice = async (hostIds: readonly string[]) => {
    const rows = await sql.begin(
      'isolation level repeatable read read only',
      async (tx) => await readPlacementHosts(tx, { location, hostIds }),
    );
    for (const host of hostsFromRows(rows)) index.put(host);
    for (const { id, changed_xid } of rows.hosts) knownAs.set(id, changed_xid);
    const found = new Set(rows.hosts.map(({ id }) => id));
    for (const id of hostIds) if (!found.has(id)) forget(id);
  };

  const forget = (hostId: string) => {
    index.remove(hostId);
    knownAs.delete(hostId);
  };

  const forgetRemoved = async (): Promise<boolean> => {
    if (!hasRemoved) return false;
    const left = new Set(await listHostIds(sql, location));
    const removed = [...knownAs.keys()].filter((id) => !left.has(id));
    for (const id of removed) forget(id);
    hasRemoved = false;
    return removed.length > 0;
  };

  return {
    index,
    locked: new Set(),
    isCurrent: (hostId, changedXid) => knownAs.get(hostId) === changedXid,
    noteCount(hosts) {
      hasRemoved ||= knownAs.size > hosts;
      return hasRemoved;
    },
    async refresh() {
      if (since === null) {
        const started = await readOldestOpenXid(sql);
        await read(await listHostIds(sql, location));
        since = started;
        return true;
      }
      const { xmin, changed } = await readHostChanges(sql, { location, since });
      const unread = changed.filter((host) => knownAs.get(host.host_id) !== host.changed_xid);
      if (unread.length > 0) await read(unread.map(({ host_id }) => host_id));
      since = xmin;
      return (await forgetRemoved()) || unread.length > 0;
    },
    async reread(hostIds) {
      if (hostIds.length > 0) await read(hostIds);
    },
    committed(moves) {
      for (const { hostId, before, after } of moves)
        if (knownAs.get(hostId) === before) knownAs.set(hostId, after);
    },
  };
}
