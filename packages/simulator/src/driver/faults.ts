import { HostFailure } from '@gantry/agent/base/failure';

/** The steps in which a simulated host can fail or hang. */
export const DRIVER_STEPS = [
  'list_domains',
  'define',
  'start',
  'reset',
  'ask_shutdown',
  'power_off',
  'undefine',
  'attach_disk',
  'detach_disk',
  'grow_attached_disk',
  'limit_disk',
  'freeze',
  'thaw',
  'read_disk',
  'create_disk',
  'grow_disk',
  'remove_disk',
  'make_snapshot',
  'copy_disk',
  'finish_copy',
  'remove_snapshot',
  'copy_snapshot',
  'read_snapshot',
  'restore_disk',
  'list_devices',
  'bind_device',
  'release_device',
  'erase_drive',
  'ensure_interfaces',
  'remove_interfaces',
  'apply_firewall',
  'ensure_seed',
  'remove_seed',
] as const;
export type DriverStep = (typeof DRIVER_STEPS)[number];

export type Fault = { code: string; message: string };
type Failing = { times: number; fault: Fault };

/** The next faults of one host. A host without faults does not allocate this. */
export class Faults {
  #failing: Map<DriverStep, Failing> | null = null;
  #hanging: Map<DriverStep, (() => void)[]> | null = null;

  failNext(step: DriverStep, times: number, fault: Fault): void {
    this.#failing ??= new Map();
    this.#failing.set(step, { times, fault });
  }

  /** Calls of this step do not return until `unhang`. */
  hang(step: DriverStep): void {
    this.#hanging ??= new Map();
    if (!this.#hanging.has(step)) this.#hanging.set(step, []);
  }

  unhang(step: DriverStep): void {
    const waiting = this.#hanging?.get(step) ?? [];
    this.#hanging?.delete(step);
    for (const resume of waiting) resume();
  }

  /** Removes all faults. */
  clear(): void {
    this.#failing = null;
    for (const step of [...(this.#hanging?.keys() ?? [])]) this.unhang(step);
  }

  /** The number of calls that hang in this step. */
  hangingIn(step: DriverStep): number {
    return this.#hanging?.get(step)?.length ?? 0;
  }

  /** The steps in which calls hang. */
  hangingSteps(): DriverStep[] {
    return [...(this.#hanging ?? [])].flatMap(([step, waiting]) => (waiting.length ? [step] : []));
  }

  /** Every step calls this first. */
  async pass(step: DriverStep): Promise<void> {
    const waiting = this.#hanging?.get(step);
    if (waiting) await new Promise<void>((resume) => waiting.push(resume));
    const failing = this.#failing?.get(step);
    if (!failing || failing.times === 0) return;
    failing.times -= 1;
    throw new HostFailure(failing.fault.code, failing.fault.message);
  }
}
