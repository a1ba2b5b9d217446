import { HostFailure } from '@gantry/agent/base/failure';
import type { DiskCopying } from '@gantry/agent/host-snapshots';
import { type HostParts, take } from './host-parts.ts';
import type { SimulatedDomain } from './simulated-domain.ts';

/** The copies of disks of running guests that are in progress, by path. They go on without an agent. */
export class SimulatedCopies {
  readonly #host: HostParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(host: HostParts) {
    this.#host = host;
  }

  async copy(domain: SimulatedDomain, copying: DiskCopying): Promise<void> {
    const { diskId, signal } = copying;
    const { path } = copying.target;
    if (!domain.has(diskId)) {
      throw new HostFailure('disk_in_use', `VM ${domain.vm.id} does not have disk ${diskId}`);
    }
    if (!this.#running.has(path)) {
      await copying.prepare();
      this.#running.set(path, this.#run(domain, diskId, path));
    }
    copying.begun();
    await Promise.race([this.#running.get(path), untilAborted(signal)]);
  }

  async #run(domain: SimulatedDomain, diskId: string, path: string): Promise<void> {
    const { disks, behaviour } = this.#host;
    const { starts } = domain;
    const copy = disks.copy(diskId);
    try {
      await take(this.#host, behaviour.copyMs);
      if (domain.state !== 'running' || domain.starts !== starts) {
        throw new HostFailure('copy_failed', `VM ${domain.vm.id} has ended`);
      }
      disks.copies.set(path, copy);
    } finally {
      this.#running.delete(path);
    }
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
