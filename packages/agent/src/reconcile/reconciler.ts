import { entryOf } from '../spec.ts';
import { DiskWorker } from './disk-worker.ts';
import type { HostContext } from './host-context.ts';
import { SnapshotWorker } from './snapshots/snapshot-worker.ts';
import { VmWorker } from './vm-worker.ts';

/**
 * All workers of a host: one per VM in the spec, one for disks without a VM, one for snapshots, and the firewall. They
 * run concurrently and share only the ledger and the host.
 */
export class Reconciler {
  readonly disks: DiskWorker;
  readonly snapshots: SnapshotWorker;
  readonly #host: HostContext;
  readonly #workers = new Map<string, VmWorker>();
  #cancelRetry: (() => void) | null = null;
  #stopped = false;

  /** `isHolding` returns whether a guest is frozen now by the order with this id. */
  constructor(host: HostContext, isHolding: (orderId: string) => boolean) {
    this.#host = host;
    this.disks = new DiskWorker(host);
    this.snapshots = new SnapshotWorker(host, {
      isHolding,
      isStarting: (vmId) => !host.ledger.facts(vmId).crashed && !this.worker(vmId)?.hasFailed,
    });
  }

  worker(vmId: string): VmWorker | undefined {
    return this.#workers.get(vmId);
  }

  /** The host or its spec may have changed. */
  nudge(): void {
    const { spec } = this.#host.ledger.content;
    for (const { id } of spec?.vms ?? []) this.#ensureWorker(id);
    for (const { id } of spec?.takeDowns ?? []) this.#ensureWorker(id);
    for (const worker of this.#workers.values()) worker.nudge();
    this.disks.nudge();
    this.snapshots.nudge();
    this.#cancelRetry?.();
    void this.#ensureFirewall();
  }

  /** Anything may have changed, so failed work is retried too. */
  recheckAll(): void {
    for (const worker of this.#workers.values()) worker.retry();
    this.nudge();
    this.#host.changed();
  }

  /** One VM may have changed. A VM that no spec names is left alone. */
  nudgeVm(vmId: string): void {
    this.#workers.get(vmId)?.nudge();
    this.#host.changed();
  }

  /** One VM can be changed again: what was given up is retried at once. */
  retryVm(vmId: string): void {
    this.#workers.get(vmId)?.retry();
    this.disks.nudge();
    this.#host.changed();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    const workers = [...this.#workers.values()];
    await Promise.all([
      this.disks.stop(),
      this.snapshots.stop(),
      ...workers.map((worker) => worker.stop()),
    ]);
  }

  #ensureWorker(vmId: string): void {
    if (this.#workers.has(vmId)) return;
    const rested = (id: string) => this.#vmRested(id);
    this.#workers.set(vmId, new VmWorker(this.#host, vmId, rested));
  }

  #vmRested(vmId: string): void {
    if (this.#stopped) return;
    if (entryOf(this.#host.ledger.content.spec, vmId) === null) this.#workers.delete(vmId);
    // The VM may have kept a disk from being removed until now.
    if (this.disks.isBehind) this.disks.nudge();
    this.snapshots.nudge();
  }

  /** Applies the rules also if no VM starts, because they apply to VMs that run already. */
  async #ensureFirewall(): Promise<void> {
    try {
      await this.#host.firewall.ensure();
    } catch (error) {
      const { log, clock, timings } = this.#host;
      log.error({ error }, 'firewall rules could not be applied; will be retried');
      if (this.#stopped) return;
      const last = timings.retryMs.at(-1) ?? timings.failedMs;
      this.#cancelRetry = clock.after(last, () => void this.#ensureFirewall());
    }
  }
}
