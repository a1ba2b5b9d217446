import { HostFailure } from '../base/failure.ts';
import { Worker } from '../base/worker.ts';
import type { Volume } from '../host-driver.ts';
import { type HostSpec, isBelow } from '../spec.ts';
import type { HostContext } from './host-context.ts';

/**
 * The disks a spec names outside any VM: those to grow and those to remove. What it has seen done is
 * what reports say of them.
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

  /** Whether a disk was not as wanted when last looked at. */
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

  /** One disk's trouble is its own; it is tried again with the next spec, and after a while. */
  async #attempt(diskId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log, clock, timings } = this.#host;
      this.#behind = true;
      log.warn({ error, disk: diskId }, 'a disk is not as wanted; it is tried again');
      this.#cancelRetry?.();
      this.#cancelRetry = clock.after(timings.failedMs, () => this.nudge());
    }
  }
}
