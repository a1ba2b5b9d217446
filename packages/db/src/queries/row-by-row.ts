import type { Queryable } from '../connect.ts';

/**
 * The end of a subquery of `exists` that joins tables: PostgreSQL evaluates it for each row of the outer statement. Otherwise
 * it may join the tables as a whole, once for each row, if its statistics are of a time when they were empty. Placement stood
 * still for a minute because of 420 VMs, until the tables were analysed again.
 */
export const rowByRow = (sql: Queryable) => sql`offset 0`;
