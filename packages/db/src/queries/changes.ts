import type { Queryable } from '../connect.ts';
import { isSince } from './hosts/host-changes.ts';
import { isUnplaced, waitsForVolumes } from './placement/unplaced-vms.ts';
import { hasUnsettled } from './settle/settle-without-host.ts';
import { hasImageWork } from './storage/image-work.ts';
import { hasPools, hasVolumeWork } from './storage/volume-work.ts';

/** `own_number` is the number after the last change that did not only concern its networks. */
export type HostChange = {
  host_id: string;
  /** The driver returns 64-bit numbers as text. */
  number: string;
  own_number: string;
  /** Where it is and which transaction changed it; null if the change does not concern placement. */
  location: string | null;
  changed_xid: string | null;
};

export type Changes = {
  /** The `since` of the next call: the oldest transaction that is open now. */
  xmin: string;
  /** The hosts whose spec or capacity may have changed. A host may be listed twice. */
  hosts: HostChange[];
  /** The networks whose VMs may have changed. */
  networkIds: string[];
  /** Those of the given locations in which VMs wait for a host. */
  unplaced: string[];
  /** Whether something can be settled without a report of a host. */
  isUnsettled: boolean;
  /** Whether volumes or keys of the given locations may have to be made, changed or removed. */
  hasVolumeWork: boolean;
  /** Whether images of the given locations have to be put into the image store, or removed from it. */
  hasImageWork: boolean;
  /** Whether the given locations have pools of storage clusters. */
  hasPools: boolean;
};

type Row = {
  xmin: string;
  unplaced: string[];
  is_unsettled: boolean;
  has_volume_work: boolean;
  has_image_work: boolean;
  has_pools: boolean;
} & ((HostChange & { network_id: null }) | { host_id: null; network_id: string | null });

/**
 * Returns what transactions from `since` on changed, and what waits for a scheduler. A transaction that
 * commits late is open now, so the next call finds its changes.
 *
 * Every scheduler asks many times a second and mostly finds nothing, so it is one statement for
 * everything, and it only looks into small indexes.
 */
export async function readChanges(
  sql: Queryable,
  { since, locations }: { since: string; locations: readonly string[] },
): Promise<Changes> {
  const rows = await sql<Row[]>`
    select s.xmin::text, s.unplaced, s.is_unsettled, s.has_volume_work, s.has_image_work, s.has_pools, c.host_id, c.number, c.own_number, c.location, c.changed_xid::text,
      c.network_id
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin, ${hasUnsettled(sql)} as is_unsettled,
        ${hasVolumeWork(sql, locations)} as has_volume_work,
        ${hasImageWork(sql, locations)} as has_image_work,
        ${hasPools(sql, locations)} as has_pools,
        array(select l.name from unnest(${[...locations]}::text[]) as l (name)
          where exists (select from vms v where location = l.name and ${isUnplaced(sql)} and not ${waitsForVolumes(sql)})) as unplaced) s
    left join (select r.host_id, r.number, r.own_number, h.location, r.changed_xid, null::uuid as network_id
        from host_revisions r join hosts h on h.id = r.host_id where ${isSince(sql, sql`r.changed_xid`, since)}
      union all select host_id, number, own_number, null, null, null from host_revisions
        where ${isSince(sql, sql`peers_xid`, since)}
      union all select null, null, null, null, null, network_id from network_changes where ${isSince(sql, sql`xid`, since)}) c on true`;
  const [first] = rows;
  const networkIds = new Set(rows.flatMap(({ network_id }) => network_id ?? []));
  return {
    xmin: first?.xmin ?? since,
    hosts: rows.flatMap((row) => (row.host_id === null ? [] : [row])),
    networkIds: [...networkIds],
    unplaced: first?.unplaced ?? [],
    isUnsettled: first?.is_unsettled ?? false,
    hasVolumeWork: first?.has_volume_work ?? false,
    hasImageWork: first?.has_image_work ?? false,
    hasPools: first?.has_pools ?? false,
  };
}
