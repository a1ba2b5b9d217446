import type { DeviceKind, DeviceState, HostAdminState, HostState } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';
import { isUnplaced } from '../placement/unplaced-vms.ts';

/**
 * Figures of the whole fleet for monitoring. Each function is one statement whose result is small, however
 * large the fleet is. One scheduler runs them, at most every few seconds.
 */

/** The scheduler that reports the figures: the holder of the first lease. Null if there is none. */
export async function readFleetReporter(sql: Queryable): Promise<string | null> {
  const [row] = await sql<{ holder: string }[]>`
    select holder from leases where expires_at > clock_timestamp() order by location limit 1`;
  return row?.holder ?? null;
}

export type HostFigures = {
  location: string;
  state: HostState;
  admin_state: HostAdminState;
  hosts: number;
  drifted: number;
  /** Connected hosts that take no new VMs, by the first reason that applies. */
  refusing: number;
  impaired: number;
  failing_builds: number;
  /** Connected hosts that have not accepted their newest spec. */
  behind: number;
  /** Hosts whose fence waits for a storage cluster. */
  unfenced: number;
};

export async function readHostFigures(sql: Queryable): Promise<HostFigures[]> {
  return await sql<HostFigures[]>`
    select h.location, h.state, h.admin_state, count(*)::int as hosts,
      count(*) filter (where h.drift <> '{}')::int as drifted,
      count(*) filter (where h.state = 'ready' and h.refusal <> '')::int as refusing,
      count(*) filter (where h.state = 'ready' and h.refusal = '' and h.impairment <> '')::int as impaired,
      count(*) filter (where h.state = 'ready' and h.refusal = '' and h.impairment = '' and h.trouble <> '')::int
        as failing_builds,
      count(*) filter (where h.state = 'ready' and r.number > h.accepted_number)::int as behind,
      count(*) filter (where h.state <> 'fenced' and h.storage_fence_problem <> '')::int as unfenced
    from hosts h left join host_revisions r on r.host_id = h.id
    group by h.location, h.state, h.admin_state`;
}

export type DeviceFigures = {
  location: string;
  kind: DeviceKind;
  state: DeviceState;
  devices: number;
  /** Those that an operator keeps from new VMs. */
  set_aside: number;
};

export async function readDeviceFigures(sql: Queryable): Promise<DeviceFigures[]> {
  return await sql<DeviceFigures[]>`
    select h.location, d.kind, d.state, count(*)::int as devices,
      count(*) filter (where d.quarantine_reason <> '')::int as set_aside
    from devices d join hosts h on h.id = d.host_id group by h.location, d.kind, d.state`;
}

export type ProblemFigures = {
  location: string;
  kind: DeviceKind;
  rule: string;
  severity: string;
  devices: number;
};

/** Counts the devices with each problem that a health rule found. */
export async function readProblemFigures(sql: Queryable): Promise<ProblemFigures[]> {
  return await sql<ProblemFigures[]>`
    select h.location, d.kind, p.problem ->> 'rule' as rule, p.problem ->> 'severity' as severity, count(*)::int as devices
    from devices d join hosts h on h.id = d.host_id cross join lateral jsonb_array_elements(d.problems) as p (problem)
    where d.problems <> '[]' group by 1, 2, 3, 4`;
}

export type WaitingFigures = { location: string; vms: number; oldest_seconds: number };

/** The VMs that wait for a host, and for how long the oldest one does. Every location has a row. */
export async function readWaitingFigures(sql: Queryable): Promise<WaitingFigures[]> {
  return await sql<WaitingFigures[]>`
    select l.name as location, coalesce(w.vms, 0) as vms, coalesce(w.oldest_seconds, 0) as oldest_seconds
    from locations l left join (
      select location, count(*)::int as vms, extract(epoch from now() - min(o.recorded_at))::float8 as oldest_seconds
      from vms left join operations o on o.resource_id = vms.id and o.state = 'IN_PROGRESS'
      where ${isUnplaced(sql)} group by location) w on w.location = l.name`;
}

export type PlaceableFigures = { location: string; vm_type: string; fitting: number };

/** How many VMs of each type still fit. The scheduler counts to a hundred. */
export async function readPlaceableFigures(sql: Queryable): Promise<PlaceableFigures[]> {
  return await sql<PlaceableFigures[]>`select location, vm_type, fitting from availabilities`;
}

export async function countVmsByState(sql: Queryable): Promise<{ state: string; vms: number }[]> {
  return await sql<{ state: string; vms: number }[]>`
    select state, count(*)::int as vms from vms group by state`;
}

export type OtherFigures = {
  orphans: number;
  unfinished_operations: number;
  overdue_operations: number;
  /** The end of the last day whose usage is final, in seconds since 1970. Null if no day is closed. */
  usage_closed_until: number | null;
};

export async function readOtherFigures(sql: Queryable): Promise<OtherFigures> {
  const [row] = await sql<OtherFigures[]>`
    select (select count(*)::int from orphans) as orphans, o.unfinished as unfinished_operations,
      o.overdue as overdue_operations,
      (select extract(epoch from (max(date) + 1)::timestamp at time zone 'UTC')::float8 from closed_days) as usage_closed_until
    from (select count(*)::int as unfinished, count(*) filter (where deadline_at < now())::int as overdue
      from operations where state = 'IN_PROGRESS') o`;
  if (!row) throw new Error('BUG: counts returned no row');
  return row;
}

/** Counts the hosts whose newest certificate has less than a quarter of its life left: it was not renewed in time. */
export async function countExpiringCertificates(sql: Queryable): Promise<number> {
  const [row] = await sql<{ hosts: number }[]>`
    select count(*)::int as hosts from hosts h cross join lateral (select created_at, not_after from host_certificates
      where host_id = h.id and revoked_at is null order by not_after desc limit 1) c
    where h.state <> 'fenced' and c.not_after - now() < (c.not_after - c.created_at) / 4`;
  return row?.hosts ?? 0;
}

export type EndedOperation = {
  name: string;
  state: 'SUCCEEDED' | 'FAILED';
  /** Empty unless it has failed. */
  code: string;
  /** Null if the operation was removed meanwhile. */
  seconds: number | null;
};

/**
 * Returns the operations of VMs whose end was committed by transactions from `since` on, and where to go on.
 * Without `since` it returns only where to go on. Transactions before the horizon have ended, so every end is
 * returned once: see the table `stream_events`.
 */
export async function readEndedOperations(
  sql: Queryable,
  since: string | null,
): Promise<{ horizon: string; operations: EndedOperation[] }> {
  const rows = await sql<(EndedOperation & { horizon: string; found: boolean })[]>`
    select s.horizon::text, e.found is not null as found, e.data ->> 'operation_name' as name, e.data ->> 'state' as state,
      e.data ->> 'code' as code, extract(epoch from o.completed_at - o.recorded_at)::float8 as seconds
    from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) s
    left join lateral (select true as found, data from stream_events
      where xid >= coalesce(${since}::text::xid8, s.horizon) and xid < s.horizon and type = 'operation'
        and data ->> 'resource_type' = 'vm' and data ->> 'step' = 'ended') e on true
    left join operations o on o.id = (e.data ->> 'operation_id')::uuid`;
  const horizon = rows[0]?.horizon;
  if (horizon === undefined) throw new Error('BUG: a snapshot has no horizon');
  return {
    horizon,
    operations: rows.flatMap(({ found, horizon: _, ...operation }) => (found ? [operation] : [])),
  };
}
