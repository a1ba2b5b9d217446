import { entryOf } from '../spec.ts';
import { DiskWorker } from './disk-worker.ts';
import type { HostContext } from './host-context.ts';
import { VmWorker } from './vm-worker.ts';

/**
 * Everything at work on a host: one worker per VM the spec names, one for disks no VM has, and the
 * firewall. They run beside each other and share nothing but the ledger and the host.
 */
export class Reconciler {
  readonly disks: DiskWorker;
  readonly #host: HostContext;
  readonly #workers = new Map<string, VmWorker>();
  #cancelRetry: (() => void) | null = null;
  #stopped = false;

  constructor(host: HostContext) {
    this.#host = host;
    this.disks = new DiskWorker(host);
  }

  worker(vmId: string): VmWorker | undefined {
    return this.#workers.get(vmId);
  }

  /** Something about the host or its spec may have changed. */
  nudge(): void {
    const { spec } = this.#host.ledger.content;
    for (const { id } of spec?.vms ?? []) this.#ensureWorker(id);
    for (const { id } of spec?.deleted ?? []) this.#ensureWorker(id);
    for (const worker of this.#workers.values()) worker.nudge();
    this.disks.nudge();
    this.#cancelRetry?.();
    void this.#ensureFirewall();
  }

  /** Anything may have changed, also what others failed at. */
  lookAgain(): void {
    for (const worker of this.#workers.values()) worker.retry();
    this.nudge();
    this.#host.changed();
  }

  /** Something about one VM may have changed. One that no spec names is left alone. */
  nudgeVm(vmId: string): void {
    this.#workers.get(vmId)?.nudge();
    this.#host.changed();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    const workers = [...this.#workers.values()];
    await Promise.all([this.disks.stop(), ...workers.map((worker) => worker.stop())]);
  }

  #ensureWorker(vmId: string): void {
    if (this.#workers.has(vmId)) return;
    const rested = (id: string) => this.#vmRested(id);
    this.#workers.set(vmId, new VmWorker(this.#host, vmId, rested));
  }

  #vmRested(vmId: string): void {
    if (this.#stopped) return;
    if (entryOf(this.#host.ledger.content.spec, vmId) === null) this.#workers.delete(vmId);
    // A disk may have been in the way of its removal until now.
    if (this.disks.isBehind) this.disks.nudge();
  }

  /** Rules hold for the VMs that run already, whether or not one comes up. */
  async #ensureFirewall(): Promise<void> {
    try {
      await this.#host.firewall.ensure();
    } catch (error) {
      const { log, clock, timings } = this.#host;
      log.error({ error }, 'the firewall rules are not in force; they are tried again');
      if (this.#stopped) return;
      const last = timings.retryMs.at(-1) ?? timings.failedMs;
      this.#cancelRetry = clock.after(last, () => void this.#ensureFirewall());
    }
  }
}
