import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { removeHome } from '../database/remove-home.ts';
import { documented } from '../docs/documented.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import {
  copyData,
  PostgresNode,
  type PostgresPlace,
  preparePostgres,
  urlAt,
} from './postgres-node.ts';

/**
 * A PostgreSQL with an asynchronous streaming replica. Processes reach the primary through links,
 * which are proxies that follow a failover. The replica streams through a proxy too: a test that
 * puts it into a hole loses the commits of that time when it fails over.
 */
export class ReplicatedPostgres {
  readonly #place: PostgresPlace;
  readonly #links = new Set<FaultProxy>();
  #primary: PostgresNode;
  #replica: { node: PostgresNode; streaming: FaultProxy } | null = null;
  #copies = 0;

  private constructor(place: PostgresPlace) {
    this.#place = place;
    this.#primary = new PostgresNode(place, 'data');
  }

  static async start(home: string): Promise<ReplicatedPostgres> {
    const servers = new ReplicatedPostgres(await preparePostgres(home));
    await servers.#primary.start();
    const sql = connect(servers.#primary.maintenanceUrl);
    await sql`create database gantry`.finally(() => sql.end({ timeout: 1 }));
    return servers;
  }

  /** The primary of this moment, without a proxy. */
  get url(): string {
    return this.#primary.url;
  }

  get password(): string {
    return this.#place.password;
  }

  get primary(): PostgresNode {
    return this.#primary;
  }

  /** Returns the proxy through which the replica streams. */
  get streaming(): FaultProxy {
    if (!this.#replica) throw new Error('there is no replica');
    return this.#replica.streaming;
  }

  /** A way to the primary for one process. */
  async link(): Promise<{ url: string; proxy: FaultProxy }> {
    const proxy = await startFaultProxy(this.#primary.port);
    this.#links.add(proxy);
    return { url: urlAt(this.#place, proxy.port), proxy };
  }

  /** Copies the primary while it works, and lets the copy stream from it. */
  async addReplica(): Promise<void> {
    await this.#removeReplica();
    this.#copies += 1;
    const name = `replica_${this.#copies}`;
    await this.#onPrimary((sql) => sql`select pg_create_physical_replication_slot(${name}, true)`);
    const node = new PostgresNode(this.#place, name);
    await this.#copyPrimary(node);
    const streaming = await startFaultProxy(this.#primary.port);
    const target = `host=127.0.0.1 port=${streaming.port} user=gantry password=${this.#place.password}`;
    await node.configure({ primary_conninfo: target, primary_slot_name: name });
    await node.signal('standby.signal');
    await node.start();
    this.#replica = { node, streaming };
    await this.caughtUp();
  }

  /** Waits until the replica has everything that was committed before the call. */
  async caughtUp(): Promise<void> {
    if (!this.#replica) throw new Error('there is no replica');
    const [row] = await this.#onPrimary((sql) => sql`select pg_current_wal_lsn()::text as lsn`);
    const sql = connect(this.#replica.node.maintenanceUrl);
    try {
      for (;;) {
        const [seen] =
          await sql`select pg_last_wal_replay_lsn() >= ${row?.['lsn']}::pg_lsn as done`;
        if (seen?.['done']) return;
        await delay(20);
      }
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** The primary dies, the replica is promoted with the statement of the documentation, and the links lead to it. */
  async failOver(): Promise<void> {
    const replica = this.#replica;
    if (!replica) throw new Error('there is no replica');
    await this.#primary.kill();
    const command = documented('failover.md', 'psql "$REPLICA"');
    const [, statement = ''] = /-c '(.*)'/.exec(command) ?? [];
    const sql = connect(replica.node.maintenanceUrl);
    await sql.unsafe(statement).finally(() => sql.end({ timeout: 1 }));
    await replica.streaming.stop();
    await this.#discard(this.#primary);
    this.#replica = null;
    this.#follow(replica.node);
  }

  async restart({ downMs = 0 } = {}): Promise<void> {
    await this.#primary.kill();
    await delay(downMs);
    await this.#primary.start();
  }

  /** A copy of the data directory, made while the server works. */
  async backUp(): Promise<string> {
    this.#copies += 1;
    const node = new PostgresNode(this.#place, `backup_${this.#copies}`);
    await this.#copyPrimary(node);
    return node.data;
  }

  /**
   * The present data is lost, and the backup takes its place. PostgreSQL begins a new timeline if it
   * recovers from an archive, and none if it was copied as a snapshot is.
   */
  async restore(backup: string, { timeline }: { timeline: 'same' | 'new' }): Promise<void> {
    const lost = this.#primary;
    await lost.kill();
    this.#copies += 1;
    const node = new PostgresNode(this.#place, `restored_${this.#copies}`);
    await promisify(execFile)('cp', ['-a', '--reflink=auto', backup, node.data]);
    if (timeline === 'new') {
      // All that the backup needs is in its pg_wal, so the archive is empty.
      await node.configure({ restore_command: '/bin/false' });
      await node.signal('recovery.signal');
    }
    await node.start();
    await this.#untilWritable(node);
    await this.#discard(lost);
    this.#follow(node);
  }

  async stop(): Promise<void> {
    for (const link of this.#links) await link.stop();
    await this.#replica?.streaming.stop();
    await this.#replica?.node.kill();
    await this.#primary.kill();
    await removeHome(this.#place.home.directory);
  }

  async #removeReplica(): Promise<void> {
    if (!this.#replica) return;
    const { node, streaming } = this.#replica;
    this.#replica = null;
    await streaming.stop();
    await this.#discard(node);
    const drop = (sql: postgres.Sql) =>
      sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where not active`;
    await this.#onPrimary(drop);
  }

  async #discard(node: PostgresNode): Promise<void> {
    await node.kill();
    const again = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };
    await rm(node.data, again);
  }

  #follow(node: PostgresNode): void {
    this.#primary = node;
    for (const link of this.#links) link.retarget(node.port);
  }

  async #copyPrimary(copy: PostgresNode): Promise<void> {
    const { data } = this.#primary;
    const label = await this.#onPrimary(async (sql) => {
      await sql`select pg_backup_start('test', true)`;
      await copyData(data, copy.data);
      const [stopped] = await sql`select labelfile from pg_backup_stop(false)`;
      return String(stopped?.['labelfile']);
    });
    // The log until the end of the backup, without which the copy is not consistent.
    const log = path.join(copy.data, 'pg_wal');
    await rm(log, { recursive: true });
    await copyData(path.join(data, 'pg_wal'), log);
    for (const slots of ['pg_replslot', 'pg_stat_tmp'])
      await promisify(execFile)('find', [path.join(copy.data, slots), '-mindepth', '1', '-delete']);
    await copy.signal('backup_label', label);
  }

  /** A restored server accepts reads before its recovery has ended. */
  async #untilWritable(node: PostgresNode): Promise<void> {
    const sql = connect(node.maintenanceUrl);
    try {
      for (;;) {
        const [row] = await sql`select pg_is_in_recovery() as recovering`;
        if (row?.['recovering'] === false) return;
        await delay(20);
      }
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  async #onPrimary<T>(run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = connect(this.#primary.maintenanceUrl);
    try {
      return await run(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

/** One connection, because a backup belongs to the session that began it. */
function connect(url: string): postgres.Sql {
  return postgres(url, { max: 1, idle_timeout: 0, onnotice: () => {} });
}
