import type { LIMITED_DISK_TYPES } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

/** The limits of all disks of a type. Zero: no limit. */
export type DiskLimits = {
  total_iops: number;
  read_iops: number;
  write_iops: number;
  total_bytes_per_second: number;
  read_bytes_per_second: number;
  write_bytes_per_second: number;
  iops_per_gib: number;
  bytes_per_second_per_gib: number;
  burst_percent: number;
  burst_seconds: number;
};

export type DiskLimitsRow = DiskLimits & {
  disk_type: (typeof LIMITED_DISK_TYPES)[number];
  updated_at: Date;
};

/** Each of them as a number: the driver returns a bigint as text. */
const limitsOf = (
  sql: Queryable,
) => sql`l.disk_type, l.total_iops::float8, l.read_iops::float8, l.write_iops::float8,
  l.total_bytes_per_second::float8, l.read_bytes_per_second::float8, l.write_bytes_per_second::float8,
  l.iops_per_gib::float8, l.bytes_per_second_per_gib::float8, l.burst_percent, l.burst_seconds`;

export async function listDiskLimits(sql: Queryable): Promise<DiskLimitsRow[]> {
  return await sql<
    DiskLimitsRow[]
  >`select ${limitsOf(sql)}, l.updated_at from disk_limits l order by l.disk_type`;
}

/** Triggers send the limits to all hosts when the transaction commits. */
export async function updateDiskLimits(
  sql: Queryable,
  { diskType, limits, at }: { diskType: string; limits: DiskLimits; at: Date },
): Promise<void> {
  await sql`update disk_limits set ${sql(limits, ...COLUMNS)}, updated_at = ${at} where disk_type = ${diskType}`;
}

const COLUMNS = [
  ...(['total_iops', 'read_iops', 'write_iops', 'iops_per_gib'] as const),
  ...(['total_bytes_per_second', 'read_bytes_per_second', 'write_bytes_per_second'] as const),
  ...(['bytes_per_second_per_gib', 'burst_percent', 'burst_seconds'] as const),
] as const;

/** The limits as JSON, for the spec of a host; types without limits are left out. */
export const diskLimitsJson = (
  sql: Queryable,
) => sql`(select coalesce(json_agg(to_jsonb(l) - 'updated_at' order by l.disk_type), '[]') from disk_limits l
  where l.total_iops + l.read_iops + l.write_iops + l.iops_per_gib + l.total_bytes_per_second + l.read_bytes_per_second
    + l.write_bytes_per_second + l.bytes_per_second_per_gib > 0)`;
