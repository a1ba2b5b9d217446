import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from 'node-libvirt/connection';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { AFFECT } from 'node-libvirt/flags';
import { domainDetachDeviceAlias } from 'node-libvirt/generated/procedures';
import { HostFailure } from '../base/failure.ts';
import { DISK_ALIAS_PREFIX } from './domain-xml/render-disk.ts';
import { type FoundDomain, findDomain } from './domains/libvirt-domains.ts';

/** How long a guest may take to release a device. A guest that is still booting needs most of it. */
const GUEST_LIMIT_MS = 30_000;
const CALL_LIMIT = { timeoutMs: 15_000 };

const RETRY_PAUSE_MS = 250;

/**
 * Asks the guest to release a disk and waits until it has done so.
 *
 * On arm64 this takes 6 s, nearly all of it in the guest: QEMU presses the attention button of the PCIe slot, and Linux
 * waits 5 s for a second press, which would cancel the removal, and then 1 s for the slot to lose power. `virsh
 * detach-device` takes as long. On x86_64 QEMU asks through ACPI, which has no such pause.
 */
export async function detachDevice(
  connection: Connection,
  domain: FoundDomain,
  diskId: string,
): Promise<void> {
  const alias = `${DISK_ALIAS_PREFIX}${diskId}`;
  const release = await expectRelease(connection, domain, alias);
  try {
    await askGuest(connection, domain, alias);
    await release.outcome;
  } catch (error) {
    // The guest may have released it between two events or before the subscription.
    const now = await findDomain(connection, domain.vmId);
    const devices = [...(now?.facts.disks ?? []), ...(now?.facts.filesystems ?? [])];
    if (!devices.some(({ id }) => id === diskId)) return;
    const message = `the guest of VM ${domain.vmId} did not release disk ${diskId}`;
    throw new HostFailure('disk_in_use', message, { cause: error });
  } finally {
    await release.stop();
  }
}

/**
 * QEMU refuses to remove a device while the guest has not finished its hotplug or an earlier removal,
 * and accepts the request seconds later. libvirt reports every refusal of QEMU as an internal error,
 * so each internal error is retried until the time limit; the caller then reads from the domain
 * whether the device is gone. Other errors are permanent.
 */
async function askGuest(connection: Connection, { handle }: FoundDomain, alias: string) {
  const args = { dom: handle, alias, flags: AFFECT.live };
  for (const deadline = Date.now() + GUEST_LIMIT_MS; ; await delay(RETRY_PAUSE_MS)) {
    try {
      return await connection.call(domainDetachDeviceAlias, args, CALL_LIMIT);
    } catch (error) {
      if (!isLibvirtError(error, LIBVIRT_ERROR.internal) || Date.now() >= deadline) throw error;
    }
  }
}

/** Subscribes before the guest is asked, so that no event is missed. */
async function expectRelease(connection: Connection, { handle }: FoundDomain, alias: string) {
  let released = () => {};
  let refused = (_reason: Error) => {};
  const outcome = new Promise<void>((resolve, reject) => {
    released = resolve;
    refused = reject;
  });
  // The caller may not wait for it yet, or no longer.
  outcome.catch(() => {});
  const limit = setTimeout(
    () => refused(new Error('the guest did not reply in time')),
    GUEST_LIMIT_MS,
  );
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
  return { outcome, stop };
}
