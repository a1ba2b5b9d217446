import type { Domain, DomainState } from '@gantry/agent/host-driver';
import type { DeviceRef, DiskSpec, VmSpec } from '@gantry/agent/spec';
import type { DiskStore } from './disk-store.ts';
import type { HostParts } from './host-parts.ts';
import type { SimulatedConsole } from './simulated-console.ts';

/** One domain: its definition and, while it runs, its open disks. It is the disks' user itself. */
export class SimulatedDomain {
  vm: VmSpec;
  state: DomainState = 'shutoff';
  generation = '0';
  serialLog = '';
  /** The client of its serial console, or null. */
  console: SimulatedConsole | null = null;
  /** How often it was started, reset and asked to shut down. For tests. */
  starts = 0;
  resets = 0;
  shutdownsAsked = 0;
  isShuttingDown = false;
  isFrozen = false;
  /** Present while the hypervisor does not reply about it. */
  unresponsive: Domain['unresponsive'];
  /** The start in progress. */
  #start: { ended: Promise<void>; end: () => void } | null = null;
  #running: { devices: readonly DeviceRef[]; disks: DiskSpec[] } | null = null;

  constructor(vm: VmSpec) {
    this.vm = vm;
  }

  has(diskId: string): boolean {
    return this.#running?.disks.some((disk) => disk.id === diskId) ?? false;
  }

  show(store: DiskStore): Domain {
    const { devices, disks } = this.#running ?? this.vm;
    return {
      vmId: this.vm.id,
      state: this.state,
      revision: this.vm.revision,
      generation: this.generation,
      devices,
      disks: disks.map(({ id, tune = {} }) => ({
        ...{ id, sizeBytes: store.sizeBytes(id) ?? '0' },
        ...(Object.keys(tune).length === 0 ? {} : { tune }),
      })),
      ...(this.unresponsive ? { unresponsive: this.unresponsive } : {}),
    };
  }

  /** Returns whether the start was completed, and not ended before, for example by a power-off. */
  async boot(host: Pick<HostParts, 'clock' | 'behaviour'>): Promise<boolean> {
    const { bootMs } = host.behaviour;
    if (bootMs === 0) return true;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const start = { ended, end };
    this.#start = start;
    this.state = 'starting';
    const cancel = host.clock.after(bootMs, end);
    await ended;
    cancel();
    if (this.#start !== start) return false;
    this.#start = null;
    this.state = 'shutoff';
    return true;
  }

  /** Returns when no start is in progress. */
  async awaitStart(): Promise<void> {
    await this.#start?.ended;
  }

  /** Opens all disks atomically. */
  run(store: DiskStore, generation: string): void {
    const { devices, disks } = this.vm;
    try {
      for (const disk of disks) store.open(disk, this);
    } catch (error) {
      for (const disk of disks) store.close(disk.id, this);
      throw error;
    }
    this.#running = { devices, disks: [...disks] };
    this.state = 'running';
    this.generation = generation;
    this.isShuttingDown = false;
  }

  end(store: DiskStore, state: DomainState): void {
    const start = this.#start;
    this.#start = null;
    start?.end();
    for (const disk of this.#running?.disks ?? []) store.close(disk.id, this);
    this.#running = null;
    this.state = state;
    this.isShuttingDown = false;
    this.isFrozen = false;
    this.console?.push(null);
    this.console = null;
  }

  attach(store: DiskStore, disk: DiskSpec): void {
    if (this.has(disk.id)) return;
    store.open(disk, this);
    this.#running?.disks.push(disk);
  }

  limit({ id, tune = {} }: DiskSpec): void {
    if (!this.#running) return;
    this.#running.disks = this.#running.disks.map((disk) =>
      disk.id === id ? { ...disk, tune } : disk,
    );
  }

  detach(store: DiskStore, diskId: string): void {
    if (!this.#running) return;
    store.close(diskId, this);
    this.#running.disks = this.#running.disks.filter((disk) => disk.id !== diskId);
  }
}
