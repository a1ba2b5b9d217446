import { sql } from 'drizzle-orm';
import { check, integer, pgTable, text } from 'drizzle-orm/pg-core';

/**
 * Which version of the files under `packages/db/sql` the database has. Writer: `migrate`. One row.
 */
export const appliedSql = pgTable(
  'applied_sql',
  {
    id: integer('id').primaryKey().default(1),
    /** SHA-256 of the files and of the list of migrations. */
    digest: text('digest').notNull(),
    /**
     * The names that the files created, so that those that are no longer in the files are dropped.
     */
    functions: text('functions').array().notNull(),
    triggers: text('triggers').array().notNull(),
  },
  (t) => [check('applied_sql_one', sql`${t.id} = 1`)],
);
