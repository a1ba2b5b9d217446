import { HostFailure } from '../base/failure.ts';
import { Worker } from '../base/worker.ts';
import type { Volume } from '../host-driver.ts';
import { type HostSpec, isBelow } from '../spec.ts';
import type { HostContext } from './host-context.ts';

/**
 * Grows and removes the disks that a spec lists outside of VMs. Reports contain what it has
 * completed.
 */
export class DiskWorker {
  readonly #host: HostContext;
  readonly #worker: Worker;
  #cancelRetry: (() => void) | null = null;
  #behind = false;
  #ready: readonly Volume[] = [];
  #removed: readonly string[] = [];

  constructor(host: HostContext) {
    this.#host = host;
    this.#worker = new Worker(async () => {
      const { spec } = this.#host.ledger.content;
      if (spec) await this.#carryOut(spec);
    });
  }

  get ready(): readonly Volume[] {
    return this.#ready;
  }

  get removed(): readonly string[] {
    return this.#removed;
  }

  /** Whether the last run left a disk in a state other than the desired one. */
  get isBehind(): boolean {
    return this.#behind;
  }

  nudge(): void {
    this.#worker.nudge();
  }

  async stop(): Promise<void> {
    this.#cancelRetry?.();
    await this.#worker.stop();
  }

  async #carryOut(spec: HostSpec): Promise<void> {
    const before = JSON.stringify([this.#ready, this.#removed]);
    const { volumes } = this.#host.driver;
    this.#behind = false;
    const ready: Volume[] = [];
    const removed: string[] = [];
    for (const disk of spec.disks) {
      await this.#attempt(disk.id, async () => {
        const existing = await volumes.read(disk.id);
        if (existing === null && disk.exists) {
          throw new HostFailure('disk_missing', `the disk ${disk.id} is not on this host`);
        }
        if (existing === null) await volumes.create(disk, null);
        else if (isBelow(existing.sizeBytes, disk.sizeBytes)) await volumes.grow(disk);
        const volume = await volumes.read(disk.id);
        if (volume) ready.push(volume);
      });
    }
    for (const diskId of spec.deletedDisks) {
      await this.#attempt(diskId, async () => {
        await volumes.remove(diskId);
        removed.push(diskId);
      });
    }
    this.#ready = ready;
    this.#removed = removed;
    if (JSON.stringify([ready, removed]) !== before) this.#host.changed();
  }

  /** A failure concerns one disk only. It is retried with the next spec and after a pause. */
  async #attempt(diskId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log, clock, timings } = this.#host;
      this.#behind = true;
      log.warn({ error, disk_id: diskId }, 'disk change failed; will be retried');
      this.#cancelRetry?.();
      this.#cancelRetry = clock.after(timings.failedMs, () => this.nudge());
    }
  }
}
