import { watch as watchFiles } from 'node:fs';
import type { Log } from '@gantry/daemon/log';
import type { Client } from 'node-libvirt/client';
import type { Connection } from 'node-libvirt/connection';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';
import type { DomainWatcher } from '../host-driver.ts';
import { vmOfLog } from './serial-log.ts';

type WatchOptions = {
  client: Pick<Client, 'onConnected'>;
  log: Log;
  /** Must exist. */
  serialLogDirectory: string;
};

/**
 * Reports changes on the host: of domains by libvirt's events, of consoles by inotify. After every
 * connect everything must be read again, because events may have been missed. A connection on which
 * the subscription fails is closed.
 */
export function watchDomains({ client, log, serialLogDirectory }: WatchOptions) {
  const watchers = new Set<DomainWatcher>();
  const changed = (vmId: string) => {
    for (const watcher of watchers) watcher.domainChanged(vmId);
  };
  const forgetConnects = client.onConnected(async (connection) => {
    try {
      await follow(connection, changed);
    } catch (error) {
      log.warn({ error }, 'domain events could not be subscribed; reconnecting');
      throw error;
    }
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
    stop() {
      forgetConnects();
      files.close();
    },
  };
}

async function follow(connection: Connection, changed: (vmId: string) => void): Promise<void> {
  const tell = ({ domain }: { domain: { uuid: Buffer } }) => changed(uuidOf(domain.uuid));
  await subscribe(connection, DOMAIN_EVENT.lifecycle, { listener: tell });
  await subscribe(connection, DOMAIN_EVENT.deviceRemoved, { listener: tell });
  await subscribe(connection, DOMAIN_EVENT.metadataChange, { listener: tell });
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
