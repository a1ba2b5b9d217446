import type { DiskOrderReport } from '@gantry/proto/generated/gantry/v1/DiskOrderReport';
import type { SnapshotReport } from '@gantry/proto/generated/gantry/v1/SnapshotReport';
import { HostFailure } from '../../base/failure.ts';
import { createSlots } from '../../base/queue.ts';
import type { Volume } from '../../host-driver.ts';
import type { HostSpec } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import { type Making, makeSnapshot } from './make-snapshot.ts';
import { OrderTasks, type Outcome, type Task } from './order-tasks.ts';

/**
 * Makes and removes snapshots of disks of this host, creates disks from them, sets disks back to them and sends them for
 * images, by the orders of a spec. What no order names is left alone. Reports contain what it has completed, and why something failed.
 */
type Options = Pick<Making, 'isHolding' | 'isStarting'>;
type Order = {
  make: HostSpec['snapshots'][number];
  copy: HostSpec['diskCopies'][number];
  restore: HostSpec['diskRestores'][number];
  export: HostSpec['imageExports'][number];
};

/** Copies load the storage that guests use. */
const COPIES_AT_ONCE = 2;
/** For an agent that keeps an order of each of its last disks. */
const REMEMBERED_RESTORES = 1_000;

const taskOf = {
  make: ({ id }: Order['make']) => ({ subject: `snapshot ${id}`, id: 'make' }),
  remove: (id: string) => ({ subject: `snapshot ${id}`, id: 'remove' }),
  copy: ({ disk }: Order['copy']) => ({ subject: `disk ${disk?.id}`, id: 'copy' }),
  restore: ({ id, diskId }: Order['restore']) => ({ subject: `disk ${diskId}`, id }),
  export: ({ imageId }: Order['export']) => ({ subject: `image ${imageId}`, id: 'export' }),
};

export class SnapshotWorker {
  readonly #host: HostContext;
  readonly #options: Options;
  readonly #tasks: OrderTasks;
  readonly #slots = createSlots(COPIES_AT_ONCE);
  /** The snapshots that are being made and whose moment has passed. */
  readonly #taken = new Set<string>();
  /** The disks that were copied, as they were then. */
  readonly #copied = new Map<string, Volume>();

  constructor(host: HostContext, options: Options) {
    this.#host = host;
    this.#options = options;
    const { clock, timings, log } = host;
    this.#tasks = new OrderTasks({
      clock,
      pausesMs: [...timings.retryMs, timings.failedMs],
      changed: () => host.changed(),
      failed: ({ subject }, error) => log.warn({ error, subject }, 'snapshot order failed'),
    });
  }

  /** The orders or the state of VMs may have changed. */
  nudge(): void {
    const { spec } = this.#host.ledger.content;
    const {
      snapshots = [],
      deletedSnapshots = [],
      diskCopies = [],
      diskRestores = [],
      imageExports = [],
    } = spec ?? {};
    const copies = new Set(diskCopies.map(({ disk }) => disk?.id));
    for (const id of this.#copied.keys()) if (!copies.has(id)) this.#copied.delete(id);
    this.#tasks.follow([
      ...snapshots.map(
        (order): Task => ({
          ...taskOf.make(order),
          run: (signal) => this.#make(order, signal),
        }),
      ),
      ...diskCopies.map(
        (order): Task => ({
          ...taskOf.copy(order),
          run: (signal) => this.#slots(() => this.#copy(order, signal)),
        }),
      ),
      ...diskRestores.map(
        (order): Task => ({
          ...taskOf.restore(order),
          run: (signal) => this.#slots(() => this.#restore(order, signal)),
        }),
      ),
      ...imageExports.map(
        (order): Task => ({
          ...taskOf.export(order),
          run: (signal) => this.#slots(() => this.#export(order, signal)),
        }),
      ),
      // The last of a subject counts: a removal wins.
      ...deletedSnapshots.map(
        (id): Task => ({
          ...taskOf.remove(id),
          run: () => this.#host.driver.snapshots.remove(id),
        }),
      ),
    ]);
  }

  async stop(): Promise<void> {
    await this.#tasks.stop();
  }

  /** The disks that exist because of orders. */
  get copied(): Volume[] {
    return [...this.#copied.values()];
  }

  report() {
    const { spec } = this.#host.ledger.content;
    return {
      snapshots: (spec?.snapshots ?? []).flatMap((order) => this.#reportMaking(order)),
      deletedSnapshots: (spec?.deletedSnapshots ?? []).filter(
        (id) => this.#tasks.outcome(taskOf.remove(id))?.is === 'done',
      ),
      diskCopies: (spec?.diskCopies ?? []).flatMap((order) =>
        reportFailure(order.disk?.id ?? '', this.#tasks.outcome(taskOf.copy(order))),
      ),
      diskRestores: (spec?.diskRestores ?? []).flatMap((order): DiskOrderReport[] => {
        const outcome = this.#tasks.outcome(taskOf.restore(order));
        return outcome?.is === 'done' ? [{ id: order.id }] : reportFailure(order.id, outcome);
      }),
      imageExports: (spec?.imageExports ?? []).flatMap((order) =>
        reportFailure(order.imageId, this.#tasks.outcome(taskOf.export(order))),
      ),
    };
  }

  #reportMaking(order: Order['make']): SnapshotReport[] {
    const { id } = order;
    const outcome = this.#tasks.outcome(taskOf.make(order));
    switch (outcome?.is) {
      case undefined:
        return [];
      case 'done':
        return [{ id, state: 'SNAPSHOT_STATE_READY' }];
      case 'given up':
        return [{ id, state: 'SNAPSHOT_STATE_FAILED', failure: outcome.failure }];
      case 'working': {
        const state = this.#taken.has(id) ? 'SNAPSHOT_STATE_TAKEN' : 'SNAPSHOT_STATE_WORKING';
        return [{ id, state, ...(outcome.failure ? { failure: outcome.failure } : {}) }];
      }
    }
  }

  async #make(order: Order['make'], signal: AbortSignal): Promise<void> {
    const { driver, ledger } = this.#host;
    const taken = () => {
      this.#taken.add(order.id);
      this.#host.changed();
    };
    const { spec } = ledger.content;
    const making = { ...this.#options, order, spec, taken, signal };
    const make = async () => {
      signal.throwIfAborted();
      await makeSnapshot(driver, making);
    };
    try {
      // A guest that is frozen waits for nothing else.
      await (order.frozen || driver.snapshots.isInstant ? make() : this.#slots(make));
    } finally {
      this.#taken.delete(order.id);
    }
  }

  async #copy({ disk, snapshotId }: Order['copy'], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (disk === null) return;
    const { volumes, snapshots } = this.#host.driver;
    if ((await volumes.read(disk.id)) === null)
      await snapshots.createDisk(disk, snapshotId, signal);
    const volume = await volumes.read(disk.id);
    if (volume) this.#copied.set(disk.id, volume);
  }

  async #export({ imageId, snapshotId }: Order['export'], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { driver, transfers } = this.#host;
    if (!transfers) throw new HostFailure('host_failed', 'this agent cannot send images');
    await driver.snapshots.withContent(snapshotId, (content) =>
      transfers.send(imageId, content, signal),
    );
  }

  /** Recorded in the ledger before it is reported: a VM that starts with the disk must not lose what it writes. */
  async #restore(order: Order['restore'], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { ledger, driver } = this.#host;
    const { id, diskId } = order;
    if (ledger.content.restoredDisks?.[diskId] === id) return;
    const isWanted = ledger.content.spec?.vms.some((vm) =>
      vm.disks.some((disk) => disk.id === diskId),
    );
    if (isWanted) throw new HostFailure('disk_in_use', `a VM has the disk ${diskId}`);
    await driver.snapshots.restoreDisk(order, signal);
    await ledger.update((content) => {
      const { [diskId]: _, ...others } = content.restoredDisks ?? {};
      const kept = Object.entries(others).slice(1 - REMEMBERED_RESTORES);
      return { ...content, restoredDisks: { ...Object.fromEntries(kept), [diskId]: id } };
    });
  }
}

function reportFailure(id: string, outcome: Outcome | undefined): DiskOrderReport[] {
  if (!outcome || outcome.is === 'done' || !outcome.failure) return [];
  return [{ id, failure: outcome.failure, givenUp: outcome.is === 'given up' }];
}
