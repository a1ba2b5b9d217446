import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import type { AttachedHosts } from './attached/attached-hosts.ts';
import { HOST_LOST } from './attached/console-relay.ts';
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

/** Handles the events of a host's stream: attached, report, ended. */
export function hostHandlers(dependencies: Dependencies): StreamHandlers {
  const { sql, log, schedulerId, hosts, delivering, settling, closing } = dependencies;
  return {
    async attached(stream) {
      const { hostId, certificateSerial: certificate } = stream;
      const streamEpoch = await openStream(sql, { hostId, schedulerId, certificate });
      if (streamEpoch === undefined) {
        stream.abort('the host does not exist or is fenced');
        return;
      }
      hosts.add(stream, streamEpoch);
      log.debug({ host_id: hostId }, 'host attached');
      delivering.request(hostId);
    },
    async readable(stream) {
      const host = hosts.of(stream);
      if (!host) return;
      await settling.enter(host);
      host.heardAtMs = performance.now();
    },
    report(stream, report) {
      const host = hosts.of(stream);
      if (!host) return;
      host.heardAtMs = performance.now();
      settling.settle(host, report);
    },
    ended(stream) {
      const host = hosts.remove(stream);
      if (!host) return;
      settling.leave(host);
      delivering.leave(host);
      for (const relay of host.consoles.values()) relay.end(HOST_LOST);
      log.debug({ host_id: stream.hostId }, 'host detached');
      closing.add({ hostId: stream.hostId, streamEpoch: host.streamEpoch });
    },
  };
}
