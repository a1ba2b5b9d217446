import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  type ClusterRow,
  readCluster,
  updateClusterProblem,
  updateFsid,
} from '@gantry/db/queries/storage/pools';

/** Opens a cluster with the key that this scheduler has for it. Throws a StorageError if it has none. */
export type OpenCluster = (cluster: {
  name: string;
  monitors: readonly string[];
  userName: string;
}) => Promise<StorageCluster>;

type Opened = { settings: string; fsid: string; cluster: StorageCluster };

/** A cluster that did not reply is left alone for this long, so that its time limits delay little. */
const PAUSE_MS = 3_000;

/**
 * The storage clusters that this scheduler has opened. A cluster is used only if it has the id that it had at the first
 * contact: a replaced cluster has none of our volumes, and its keys and fences belong to others.
 */
export class StorageClusters {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #open: OpenCluster;
  readonly #opened = new Map<string, Promise<Opened>>();
  readonly #pausedUntilMs = new Map<string, number>();

  constructor({ sql, log, open }: { sql: Sql; log: Log; open: OpenCluster }) {
    this.#sql = sql;
    this.#log = log;
    this.#open = open;
  }

  /** The clusters that did not reply a moment ago. */
  paused(): string[] {
    const now = performance.now();
    return [...this.#pausedUntilMs].flatMap(([id, until]) => (until > now ? [id] : []));
  }

  /** Returns the connection to a cluster. Throws a StorageError if it cannot be used. */
  async get(clusterId: string): Promise<StorageCluster> {
    return await this.use(clusterId, async (cluster) => cluster);
  }

  /** Calls the cluster. If it cannot be used, records why and throws. */
  async use<T>(clusterId: string, call: (cluster: StorageCluster) => Promise<T>): Promise<T> {
    const row = await readCluster(this.#sql, clusterId);
    if (!row) throw new StorageError('not_found', 'the storage cluster was removed');
    try {
      const { cluster } = await this.#openOnce(row);
      const result = await call(cluster);
      this.#pausedUntilMs.delete(clusterId);
      if (row.problem !== '') await this.#record(row, '');
      return result;
    } catch (error) {
      if (isTrouble(error)) {
        this.#pausedUntilMs.set(clusterId, performance.now() + PAUSE_MS);
        // The next call opens it again, perhaps with another key.
        if (error.code !== 'unreachable') await this.#forget(clusterId);
        await this.#record(row, error.message);
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    const all = await Promise.allSettled(this.#opened.values());
    this.#opened.clear();
    for (const one of all) if (one.status === 'fulfilled') await one.value.cluster.close();
  }

  async #forget(clusterId: string): Promise<void> {
    const opened = this.#opened.get(clusterId);
    this.#opened.delete(clusterId);
    await opened?.then(
      ({ cluster }) => cluster.close(),
      () => {},
    );
  }

  async #openOnce(row: ClusterRow): Promise<Opened> {
    const { id, name, monitors, user_name: userName } = row;
    const settings = JSON.stringify([name, monitors, userName]);
    const known = await this.#opened.get(id);
    if (known?.settings === settings && known.fsid === row.fsid) return known;
    const opening = this.#connect(row, settings);
    this.#opened.set(id, opening);
    try {
      const opened = await opening;
      await known?.cluster.close();
      return opened;
    } catch (error) {
      if (this.#opened.get(id) === opening) this.#opened.delete(id);
      throw error;
    }
  }

  async #connect(row: ClusterRow, settings: string): Promise<Opened> {
    const { id, name, monitors, user_name: userName } = row;
    const cluster = await this.#open({ name, monitors, userName });
    try {
      const fsid = await cluster.readFsid();
      const expected = row.fsid === '' ? await this.#remember(id, fsid) : row.fsid;
      if (fsid === expected) return { settings, fsid, cluster };
      throw new StorageError(
        'denied',
        `the cluster has the id ${fsid}, and ${name} had ${expected} at the first contact: it is not touched`,
      );
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  async #remember(clusterId: string, fsid: string): Promise<string> {
    return await updateFsid(this.#sql, { clusterId, fsid });
  }

  async #record(row: ClusterRow, problem: string): Promise<void> {
    if (row.problem === problem) return;
    const { id: clusterId, name } = row;
    const facts = { cluster: name, problem };
    if (problem === '') this.#log.info(facts, 'storage cluster usable again');
    else this.#log.warn(facts, 'storage cluster not usable');
    await updateClusterProblem(this.#sql, { clusterId, problem });
  }
}

/** Whether the whole cluster is affected, and not one volume. */
export function isTrouble(error: unknown): error is StorageError {
  return error instanceof StorageError && ['unreachable', 'denied', 'fenced'].includes(error.code);
}
