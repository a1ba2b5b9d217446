import type { Connection } from 'node-libvirt/connection';
import { DOMAIN_EVENT, subscribe } from 'node-libvirt/domain-events';
import { AFFECT } from 'node-libvirt/flags';
import { domainDetachDeviceAlias } from 'node-libvirt/generated/procedures';
import { MachineFailure } from '../machine.ts';
import { type FoundDomain, findDomain } from './libvirt-domains.ts';
import { DISK_ALIAS_PREFIX } from './render-disk.ts';

/** What a guest has to let go of a device; one that is still booting needs most of it. */
const GUEST_LIMIT_MS = 30_000;
const CALL_LIMIT = { timeoutMs: 15_000 };

/** Asks the guest to let go of a disk, and answers once it has. */
export async function detachDevice(
  connection: Connection,
  domain: FoundDomain,
  diskId: string,
): Promise<void> {
  const alias = `${DISK_ALIAS_PREFIX}${diskId}`;
  const release = await expectRelease(connection, domain, alias);
  try {
    const args = { dom: domain.handle, alias, flags: AFFECT.live };
    await connection.call(domainDetachDeviceAlias, args, CALL_LIMIT);
    await release.answer;
  } catch (error) {
    // It may have let go all the same, between two events or before this began.
    const now = await findDomain(connection, domain.vmId);
    const devices = [...(now?.facts.disks ?? []), ...(now?.facts.filesystems ?? [])];
    if (!devices.some(({ id }) => id === diskId)) return;
    const message = `the guest of VM ${domain.vmId} does not let go of disk ${diskId}`;
    throw new MachineFailure('disk_in_use', message, { cause: error });
  } finally {
    await release.stop();
  }
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
