import postgres from 'postgres';
import { ARRAY_TYPES } from './text-arrays.ts';

/** A pool. Statements are tagged templates, prepared once per connection. */
export type Sql = postgres.Sql;
/** The pool or an open transaction. */
export type Queryable = postgres.ISql;
export type Transaction = postgres.TransactionSql;

export type ConnectOptions = { url: string; name: string; maxConnections?: number };

export function connect({ url, name, maxConnections = 10 }: ConnectOptions): Sql {
  return postgres(url, {
    max: maxConnections,
    // Times in JSON are in the session's time zone.
    connection: { application_name: name, TimeZone: 'UTC' },
    onnotice: () => {},
    connect_timeout: 10,
    fetch_types: false,
    types: ARRAY_TYPES,
  });
}
