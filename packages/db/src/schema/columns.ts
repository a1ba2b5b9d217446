import { type SQL, sql } from 'drizzle-orm';
import { type AnyPgColumn, check, customType, timestamp, uuid } from 'drizzle-orm/pg-core';

/** Adds a constraint: the database rejects values that are not in the list. */
export function oneOf(name: string, column: AnyPgColumn, values: readonly string[]) {
  return check(name, sql`${column} in (${quoted(values)})`);
}

function quoted(values: readonly string[]): SQL {
  return sql.raw(values.map((value) => `'${value}'`).join(', '));
}

export const id = () => uuid('id').primaryKey();
export const createdAt = () => moment('created_at').notNull().defaultNow();
export const updatedAt = () => moment('updated_at').notNull().defaultNow();
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
export const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' });
