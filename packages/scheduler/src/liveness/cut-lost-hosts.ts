import type { Sql } from '@gantry/db/connect';
import { listKnownHosts } from '@gantry/db/queries/hosts/host-liveness';
import type { AttachedHosts } from '../deliver/attached-hosts.ts';

/** Three heartbeats and a little. */
const SILENT_MS = 35_000;

/** Ends streams by which nothing comes any more, and those of hosts that were removed. */
export async function cutLostHosts({ sql, hosts }: { sql: Sql; hosts: AttachedHosts }) {
  const attached = [...hosts.values()];
  if (attached.length === 0) return;
  const since = performance.now() - SILENT_MS;
  const known = await listKnownHosts(
    sql,
    attached.map(({ stream }) => stream.hostId),
  );
  for (const { stream, heardAtMs } of attached) {
    if (heardAtMs < since) stream.cut('nothing was heard from the host');
    else if (!known.has(stream.hostId)) stream.cut('the host was removed');
  }
}
