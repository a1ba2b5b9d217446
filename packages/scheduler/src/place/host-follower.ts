/**
 * What is known of a location's hosts, kept true by reading only those that changed. Memory is a
 * cache of the database: it is filled when the location's lease is gained, and after any failure
 * whoever uses it throws it away and begins anew.
 *
 * A host is known as of a transaction: the one that had last changed it when it was read. A poll asks
 * for hosts changed by transactions that were not over at the poll before, however late they commit,
 * and reads those that are known as of another one. A commit of our own moves a host from one
 * transaction to the next without reading, but only if nothing came between.
 */
import type { Sql } from '@gantry/db/connect';
import { readHostChanges, readOldestOpenXid } from '@gantry/db/queries/hosts/host-changes';
import {
  countHosts,
  listHostIds,
  readPlacementHosts,
} from '@gantry/db/queries/placement/placement-hosts';
import type { HostMove } from '@gantry/db/queries/placement/placements';
import { type HostIndex, newHostIndex } from '@gantry/placement/host-index';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';

export type HostFollower = {
  index: HostIndex;
  /** Reads what changed since; the first time, everything. Returns whether anything did. */
  refresh(): Promise<boolean>;
  /** Reads these again, whatever is known of them. */
  reread(hostIds: readonly string[]): Promise<void>;
  /** Our own commit changed these hosts; the index has it already. */
  committed(moves: readonly HostMove[]): void;
};

/** A removed host leaves no trace to be found by; this often the hosts are counted. */
const COUNT_EVERY_MS = 2_000;

export function followHosts({ sql, location }: { sql: Sql; location: string }): HostFollower {
  const index = newHostIndex();
  const knownAs = new Map<string, string>();
  let since: string | null = null;
  let countedAt = 0;

  const read = async (hostIds: readonly string[] | null): Promise<string> => {
    const { xmin, rows } = await sql.begin(
      'isolation level repeatable read read only',
      async (tx) => {
        const xmin = await readOldestOpenXid(tx);
        return { xmin, rows: await readPlacementHosts(tx, { location, hostIds }) };
      },
    );
    for (const host of hostsFromRows(rows)) index.put(host);
    for (const { id, changed_xid } of rows.hosts) knownAs.set(id, changed_xid);
    const found = new Set(rows.hosts.map(({ id }) => id));
    for (const id of hostIds ?? []) if (!found.has(id)) forget(id);
    return xmin;
  };

  const forget = (hostId: string) => {
    index.remove(hostId);
    knownAs.delete(hostId);
  };

  const forgetRemoved = async (): Promise<boolean> => {
    if (performance.now() < countedAt + COUNT_EVERY_MS) return false;
    countedAt = performance.now();
    if ((await countHosts(sql, location)) >= knownAs.size) return false;
    const left = new Set(await listHostIds(sql, location));
    const removed = [...knownAs.keys()].filter((id) => !left.has(id));
    for (const id of removed) forget(id);
    return removed.length > 0;
  };

  return {
    index,
    async refresh() {
      if (since === null) {
        since = await read(null);
        countedAt = performance.now();
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
