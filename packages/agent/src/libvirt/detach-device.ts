import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from 'node-libvirt/connection';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { AFFECT } from 'node-libvirt/flags';
import { domainDetachDeviceAlias } from 'node-libvirt/generated/procedures';
import { HostFailure } from '../base/failure.ts';
import { DISK_ALIAS_PREFIX } from './domain-xml/render-disk.ts';
import { type FoundDomain, findDomain } from './libvirt-domains.ts';

/** What a guest has to let go of a device; one that is still booting needs most of it. */
const GUEST_LIMIT_MS = 30_000;
const CALL_LIMIT = { timeoutMs: 15_000 };

/** QEMU's words while the guest is not done with what was asked before: libvirt has no code for them. */
const BUSY_GUEST = /guest is busy|in the process of unplug/;
const BUSY_PAUSE_MS = 250;

/** Asks the guest to let go of a disk, and answers once it has. */
export async function detachDevice(
  connection: Connection,
  domain: FoundDomain,
  diskId: string,
): Promise<void> {
  const alias = `${DISK_ALIAS_PREFIX}${diskId}`;
  const release = await expectRelease(connection, domain, alias);
  try {
    await askGuest(connection, domain, alias);
    await release.answer;
  } catch (error) {
    // It may have let go all the same, between two events or before this began.
    const now = await findDomain(connection, domain.vmId);
    const devices = [...(now?.facts.disks ?? []), ...(now?.facts.filesystems ?? [])];
    if (!devices.some(({ id }) => id === diskId)) return;
    const message = `the guest of VM ${domain.vmId} does not let go of disk ${diskId}`;
    throw new HostFailure('disk_in_use', message, { cause: error });
  } finally {
    await release.stop();
  }
}

/** A guest takes seconds to greet a disk, and is told to let go of it only after that. */
async function askGuest(connection: Connection, { handle }: FoundDomain, alias: string) {
  const args = { dom: handle, alias, flags: AFFECT.live };
  for (const deadline = Date.now() + GUEST_LIMIT_MS; ; await delay(BUSY_PAUSE_MS)) {
    try {
      return await connection.call(domainDetachDeviceAlias, args, CALL_LIMIT);
    } catch (error) {
      if (!isBusyGuest(error) || Date.now() >= deadline) throw error;
    }
  }
}

function isBusyGuest(error: unknown): boolean {
  return isLibvirtError(error, LIBVIRT_ERROR.internal) && BUSY_GUEST.test(error.message);
}

/** Begun before the guest is asked, so that its answer is not missed. */
async function expectRelease(connection: Connection, { handle }: FoundDomain, alias: string) {
  let released = () => {};
  let refused = (_reason: Error) => {};
  const answer = new Promise<void>((resolve, reject) => {
    released = resolve;
    refused = reject;
  });
  // Nobody may be waiting for it yet, or any more.
  answer.catch(() => {});
  const limit = setTimeout(() => refused(new Error('no answer')), GUEST_LIMIT_MS);
  void connection.closed.then(refused);
  const subscriptions: { stop: () => Promise<void> }[] = [];
  const stop = async () => {
    clearTimeout(limit);
    await Promise.all(subscriptions.map((subscription) => subscription.stop()));
  };
  try {
    subscriptions.push(
      await subscribe(connection, DOMAIN_EVENT.deviceRemoved, {
        domain: handle,
        listener: (event) => event.alias === alias && released(),
      }),
    );
    subscriptions.push(
      await subscribe(connection, DOMAIN_EVENT.deviceRemovalFailed, {
        domain: handle,
        listener: (event) => event.alias === alias && refused(new Error('the guest refused')),
      }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { answer, stop };
}
