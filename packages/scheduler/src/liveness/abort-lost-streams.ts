import type { Sql } from '@gantry/db/connect';
import { listKnownHosts } from '@gantry/db/queries/hosts/host-liveness';
import type { AttachedHosts } from '../attached/attached-hosts.ts';

/** Slightly more than three report intervals of ten seconds. */
const SILENT_MS = 35_000;

/** Aborts streams without recent reports, and streams of removed or fenced hosts. */
export async function abortLostStreams({ sql, hosts }: { sql: Sql; hosts: AttachedHosts }) {
  const attached = [...hosts.values()];
  if (attached.length === 0) return;
  const since = performance.now() - SILENT_MS;
  const known = await listKnownHosts(
    sql,
    attached.map(({ stream }) => stream.hostId),
  );
  for (const { stream, heardAtMs } of attached) {
    if (heardAtMs < since) stream.abort('the host sent no report in time');
    else if (!known.has(stream.hostId)) stream.abort('the host was removed');
  }
}
