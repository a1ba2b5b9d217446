import type { Log } from '@gantry/daemon/log';
import type { Clock } from '../../base/clock.ts';
import { DomainLines } from './domain-lines.ts';
import { DomainView } from './domain-view.ts';
import { libvirtConnections } from './libvirt-connections.ts';
import type { FoundDomain } from './libvirt-domains.ts';
import { watchDomains } from './watch-domains.ts';

type OpenLibvirtOptions = {
  socketPath: string;
  /** Must exist. */
  serialLogDirectory: string;
  log: Log;
  clock: Clock;
};

/** What the agent needs of its host's libvirt daemon, which need not be running yet. */
export function openLibvirt({ socketPath, serialLogDirectory, log, clock }: OpenLibvirtOptions) {
  const connections = libvirtConnections(socketPath);
  const { client } = connections;
  const lines = new DomainLines({
    ...{ connect: connections.open, requireReply: connections.requireReply, clock },
    fellSilent: (vmId) => {
      log.warn({ vm_id: vmId, ...lines.silenceOf(vmId) }, 'domain does not reply');
      watching.domainChanged(vmId);
    },
    repliesAgain: (vmId) => {
      log.info({ vm_id: vmId }, 'domain replies again');
      view.replied(vmId);
      watching.domainRecovered(vmId);
    },
  });
  const view = new DomainView({ ...connections, lines });
  const watching = watchDomains({ client, log, view, serialLogDirectory });
  // Started now; the client keeps trying.
  client.connection().catch((error: unknown) => log.warn({ error }, 'libvirt does not reply yet'));
  return {
    ...{ lines, view, watch: watching.watch, connection: connections.connection },
    openConsole: ({ handle }: FoundDomain) => connections.openConsole(handle),
    async close(): Promise<void> {
      watching.stop();
      lines.close();
      await client.close();
    },
  };
}
