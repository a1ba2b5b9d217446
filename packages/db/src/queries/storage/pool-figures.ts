import type { Queryable } from '../../connect.ts';

export type PoolFigures = {
  location: string;
  cluster: string;
  pool: string;
  /** Null until it is known. */
  size_gib: number | null;
  used_gib: number;
  allocated_gib: number;
  has_problem: boolean;
};

export async function readPoolFigures(sql: Queryable): Promise<PoolFigures[]> {
  return await sql<PoolFigures[]>`
    select q.location, c.name as cluster, q.name as pool, q.size_gib, q.used_gib, q.allocated_gib,
      q.problem <> '' or c.problem <> '' as has_problem
    from storage_pools q join storage_clusters c on c.id = q.cluster_id order by q.id`;
}
