import { HostFailure } from '../../base/failure.ts';
import { type Domain, type HostDriver, isActive } from '../../host-driver.ts';
import { NotWanted } from '../../host-snapshots.ts';
import type { HostSpec } from '../../spec.ts';

/**
 * Makes a snapshot of a disk of this host. If a guest writes to the disk, the hypervisor copies it, unless the storage
 * does it at once. An agent that was killed meanwhile leaves nothing, or a copy that the next one continues.
 */
export type Making = {
  order: HostSpec['snapshots'][number];
  spec: HostSpec | null;
  /** Whether the guest is frozen now by the order with this id. */
  isHolding(snapshotId: string): boolean;
  /** Whether the VM is being started, so that its guest is about to open its disks. */
  isStarting(vmId: string): boolean;
  /** The moment has passed whose content the snapshot will have. */
  taken(): void;
  signal: AbortSignal;
};

type Driver = Pick<HostDriver, 'hypervisor' | 'snapshots'>;

export async function makeSnapshot(driver: Driver, making: Making): Promise<void> {
  const { hypervisor, snapshots } = driver;
  const { order, signal } = making;
  const { id, diskId } = order;
  if (await snapshots.has(id)) return;
  const writer = snapshots.isInstant ? null : findWriter(await hypervisor.list(), making);
  if (writer === null) {
    requireFrozen(making);
    await snapshots.make(id, diskId, signal);
    return;
  }
  const prepare = async () => {
    requireFrozen(making);
    await snapshots.prepareCopy(id, diskId);
  };
  const target = await snapshots.readTarget(id);
  try {
    const begun = () => making.taken();
    await hypervisor.copyDisk(writer, { diskId, target, prepare, begun, signal });
  } catch (error) {
    const isOver = error instanceof HostFailure && error.code === 'copy_failed';
    if (isOver || signal.reason instanceof NotWanted) await snapshots.discardCopy(id);
    // What the guest writes from now on would be in another attempt.
    if (isOver) requireFrozen(making);
    throw error;
  }
  await snapshots.finishCopy(id, signal);
}

/** Returns the VM whose guest can write to the disk; null if there is none. */
function findWriter(domains: readonly Domain[], making: Making): string | null {
  const { spec, order, isStarting } = making;
  const vms = spec?.vms ?? [];
  const reads = (vmId: string) =>
    vms.some(
      (vm) =>
        vm.id === vmId && vm.disks.some(({ id, readOnly }) => id === order.diskId && readOnly),
    );
  const users = domains.filter(
    ({ state, disks }) => isActive(state) && disks.some(({ id }) => id === order.diskId),
  );
  const writer = users.find(({ vmId }) => !reads(vmId));
  if (writer && (writer.state !== 'running' || writer.unresponsive)) throw inUse(making);
  if (writer) return writer.vmId;
  const isAwaited = vms.some(
    ({ id, disks }) =>
      !reads(id) && disks.some((disk) => disk.id === order.diskId) && isStarting(id),
  );
  if (isAwaited) throw inUse(making);
  return null;
}

function inUse({ order }: Making): HostFailure {
  return new HostFailure('disk_in_use', `the VM of disk ${order.diskId} is being changed`);
}

/** Throws if the guest has to be frozen now and is not, for example because the agent was restarted. */
function requireFrozen({ order, isHolding }: Making): void {
  if (!order.frozen || isHolding(order.id)) return;
  const message = 'the guest was thawed before the snapshot was made';
  throw new HostFailure('freeze_failed', message);
}
