import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { HOST_LOST } from './consoles/console-relay.ts';
import type { AttachedHosts } from './deliver/attached-hosts.ts';
import type { Delivering } from './deliver/start-delivering.ts';
import type { StreamHandlers } from './fleet/host-stream.ts';
import type { StreamClosing } from './liveness/close-streams.ts';
import type { Settling } from './settle/start-settling.ts';

type Dependencies = {
  sql: Sql;
  log: Log;
  schedulerId: string;
  hosts: AttachedHosts;
  delivering: Delivering;
  settling: Settling;
  closing: StreamClosing;
};

/** What happens when a host comes, speaks and goes. */
export function hostHandlers(dependencies: Dependencies): StreamHandlers {
  const { sql, log, schedulerId, hosts, delivering, settling, closing } = dependencies;
  return {
    async attached(stream) {
      const { hostId } = stream;
      const streamEpoch = await openStream(sql, { hostId, schedulerId });
      if (streamEpoch === undefined) {
        stream.cut('there is no such host, or it was fenced');
        return;
      }
      hosts.add(stream, streamEpoch);
      log.debug({ hostId }, 'host attached');
      delivering.want(hostId);
    },
    async readable(stream) {
      const host = hosts.of(stream);
      if (!host) return;
      await settling.turn(host);
      host.heardAtMs = performance.now();
    },
    report(stream, report) {
      const host = hosts.of(stream);
      if (!host) return;
      host.heardAtMs = performance.now();
      settling.take(host, report);
    },
    ended(stream) {
      const host = hosts.remove(stream);
      if (!host) return;
      settling.giveUpTurn(host);
      for (const relay of host.consoles.values()) relay.end(HOST_LOST);
      log.debug({ hostId: stream.hostId }, 'host detached');
      closing.add({ hostId: stream.hostId, streamEpoch: host.streamEpoch });
    },
  };
}
