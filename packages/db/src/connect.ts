import postgres from 'postgres';
import { ARRAY_TYPES } from './text-arrays.ts';

/** Tagged templates over a pool: every statement written so is prepared once per connection. */
export type Sql = postgres.Sql;
/** The pool, or a transaction that is open on it: what a query needs. */
export type Queryable = postgres.ISql;
export type Transaction = postgres.TransactionSql;

export type ConnectOptions = { url: string; name: string; maxConnections?: number };

export function connect({ url, name, maxConnections = 10 }: ConnectOptions): Sql {
  return postgres(url, {
    max: maxConnections,
    // Dates and times in JSON come in the session's zone.
    connection: { application_name: name, TimeZone: 'UTC' },
    onnotice: () => {},
    connect_timeout: 10,
    fetch_types: false,
    types: ARRAY_TYPES,
  });
}
