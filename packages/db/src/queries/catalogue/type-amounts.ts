import type { Queryable } from '../../connect.ts';

/** What a VM of a type gets. */
export type TypeAmounts = {
  cpu_cores: number;
  memory_gb: number;
  /** The total size of all drives. */
  disk_gb: number;
  disk_count: number;
  gpu_count: number;
  gpu_type: string;
  network_gbps: number;
  may_split: boolean;
  nested_virtualization: boolean;
};

/** The columns of TypeAmounts, of a row `t` of vm_types. */
export const typeAmounts = (sql: Queryable) => sql`
  t.cpu_cores, t.memory_gb, t.disk_gb, t.disk_count, t.gpu_count, t.gpu_type, t.network_gbps, t.may_split,
  t.nested_virtualization`;
