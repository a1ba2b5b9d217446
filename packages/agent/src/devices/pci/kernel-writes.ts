import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { within } from '@gantry/daemon/within';
import { HostFailure } from '../../base/failure.ts';
import { programRunner, type RunProgram } from '../../base/run-program.ts';
import { slotOf } from './pci-function.ts';

export const DEVICE_FAILED = 'device_failed';
const DEVICE_STUCK = 'device_stuck';
/** The variable by which a restarted agent recognises the writers of the one before it. */
const MARK = 'GANTRY_WRITES_TO';

export type KernelWrite = { path: string; value: string; address: string; timeoutMs: number };

/**
 * Writes to attributes in sysfs that may never return: a driver does not release its device while a
 * process uses it, and the writer waits in the kernel, where no signal reaches it.
 *
 * Each write has a process of its own. A write in the agent would take one of libuv's four threads for
 * ever, and the fourth such device would stop all work with files; a thread of its own would keep the
 * agent from exiting. The process is not killed after its limit: the kernel may still complete the
 * request.
 *
 * A card whose write has not returned within its limit is stuck: there is no other write to any of its
 * functions until that one returns, so at most one process per card waits. A restarted agent finds the
 * writers of the one before it by a variable in their environment.
 */
export class KernelWrites {
  readonly #sysfsRoot: string;
  readonly #procRoot: string;
  readonly #run: RunProgram = programRunner(DEVICE_FAILED);
  /** By slot: what is being written. */
  readonly #unfinished = new Map<string, string>();
  /** By slot: the processes that an earlier agent started. Null until they were looked for. */
  #inherited: Promise<Map<string, string>> | null = null;

  constructor({ sysfsRoot, procRoot }: { sysfsRoot: string; procRoot: string }) {
    this.#sysfsRoot = sysfsRoot;
    this.#procRoot = procRoot;
  }

  /** Throws the kernel's error, or `device_stuck` after the limit and while an earlier write waits. */
  async write({ path, value, address, timeoutMs }: KernelWrite): Promise<void> {
    const slot = slotOf(address);
    const earlier = await this.unfinishedOf(address);
    if (earlier !== null) throw stuck(earlier);
    this.#unfinished.set(slot, path);
    const file = join(this.#sysfsRoot, path);
    const options = { input: value, timeoutMs: 0, env: { [MARK]: slot } };
    const written = this.#run('tee', [file], options)
      .then(() => true)
      .finally(() => this.#unfinished.delete(slot));
    if (await within(timeoutMs, written)) return;
    // Its error matters only to the caller that still waits.
    written.catch(() => undefined);
    throw stuck(path);
  }

  /** Returns the attribute of the card that is being written, or null. */
  async unfinishedOf(address: string): Promise<string | null> {
    const slot = slotOf(address);
    const own = this.#unfinished.get(slot);
    if (own !== undefined) return own;
    this.#inherited ??= findWriters(this.#procRoot);
    const inherited = await this.#inherited;
    const pid = inherited.get(slot);
    if (pid === undefined) return null;
    if ((await markOf(this.#procRoot, pid)) === slot) return 'a write of an earlier agent';
    inherited.delete(slot);
    return null;
  }
}

/** Whether the kernel has not finished a request, so that trying another way is pointless. */
export function isStuck(error: unknown): boolean {
  return error instanceof HostFailure && error.code === DEVICE_STUCK;
}

function stuck(path: string): HostFailure {
  return new HostFailure(DEVICE_STUCK, `the kernel has not finished ${path}`);
}

async function findWriters(procRoot: string): Promise<Map<string, string>> {
  const writers = new Map<string, string>();
  for (const pid of (await readdir(procRoot)).filter((name) => /^\d+$/.test(name))) {
    const slot = await markOf(procRoot, pid);
    if (slot !== undefined) writers.set(slot, pid);
  }
  return writers;
}

/** A process may end while it is looked at. */
async function markOf(procRoot: string, pid: string): Promise<string | undefined> {
  const text = await readFile(join(procRoot, pid, 'environ'), 'utf8').catch(() => '');
  const line = text.split('\0').find((variable) => variable.startsWith(`${MARK}=`));
  return line?.slice(MARK.length + 1);
}
