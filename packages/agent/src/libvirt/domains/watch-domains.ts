import { watch as watchFiles } from 'node:fs';
import type { Log } from '@gantry/daemon/log';
import type { Client } from 'node-libvirt/client';
import type { Connection } from 'node-libvirt/connection';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';
import type { DomainWatcher } from '../../host-driver.ts';
import { vmOfLog } from '../serial-log.ts';
import type { DomainView } from './domain-view.ts';
import { idOfUuid } from './libvirt-domains.ts';

type WatchOptions = {
  client: Pick<Client, 'onConnected'>;
  log: Log;
  /** Must exist. */
  serialLogDirectory: string;
  /** Learns of connections and events before the watchers do. */
  view: Pick<DomainView, 'subscribed' | 'noticed'>;
};

/**
 * Reports changes on the host: of domains by libvirt's events, of consoles by inotify. After every
 * connect everything must be read again, because events may have been missed. A connection on which
 * the subscription fails is closed.
 */
export function watchDomains({ client, log, serialLogDirectory, view }: WatchOptions) {
  const watchers = new Set<DomainWatcher>();
  const changed = (vmId: string) => {
    view.noticed(vmId);
    for (const watcher of watchers) watcher.domainChanged(vmId);
  };
  const forgetConnects = client.onConnected(async (connection) => {
    try {
      await follow(connection, changed);
    } catch (error) {
      log.warn({ error }, 'domain events could not be subscribed; reconnecting');
      throw error;
    }
    view.subscribed(connection);
    for (const watcher of watchers) watcher.reconnected();
  });
  const files = watchFiles(serialLogDirectory, (_event, name) => {
    const vmId = name === null ? null : vmOfLog(name);
    if (vmId !== null) for (const watcher of watchers) watcher.serialLogGrew(vmId);
  });
  files.on('error', (error) => log.warn({ error }, 'console output cannot be watched'));

  return {
    watch(watcher: DomainWatcher): () => void {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    domainChanged(vmId: string) {
      for (const watcher of watchers) watcher.domainChanged(vmId);
    },
    domainRecovered(vmId: string) {
      for (const watcher of watchers) watcher.domainRecovered(vmId);
    },
    stop() {
      forgetConnects();
      files.close();
    },
  };
}

async function follow(connection: Connection, changed: (vmId: string) => void): Promise<void> {
  const tell = ({ domain }: { domain: { uuid: Buffer } }) => changed(idOfUuid(domain.uuid));
  await subscribe(connection, DOMAIN_EVENT.lifecycle, {
    listener: (event) => {
      // QEMU is about to end. libvirt locks the domain until it has, and then sends another event.
      if (event.event !== 'shutdown') tell(event);
    },
  });
  await subscribe(connection, DOMAIN_EVENT.deviceAdded, { listener: tell });
  await subscribe(connection, DOMAIN_EVENT.deviceRemoved, { listener: tell });
  await subscribe(connection, DOMAIN_EVENT.metadataChange, { listener: tell });
}
