import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { HostFailure } from '../../base/failure.ts';
import { createKeyedQueue } from '../../base/queue.ts';
import type { RunProgram } from '../../base/run-program.ts';
import { renderConf, startedApart } from './ceph-fuse.ts';
import { asMountFailure } from './mount-failure.ts';
import { readMounts } from './read-mounts.ts';
import { withSecretFile } from './secret-file.ts';
import type { Share } from './share.ts';

/**
 * `dead`: every access fails, for example because ceph-fuse has ended. `silent`: the cluster does not reply in time, so
 * guests wait for it.
 */
export type MountState = 'alive' | 'silent' | 'dead';

export type ShareMountsOptions = {
  /** Where shares are mounted: on a file system in memory, because it has the keys while a mount begins. */
  directory: string;
  run: RunProgram;
  /** Whether systemd manages this host. Absent: whether it does. */
  hasSystemd?: boolean | undefined;
  /** A network namespace that stands for the host. */
  netns?: string | undefined;
  lookLimitMs?: number;
};

/** Ceph gives up after 5 s, so this ends only what hangs. */
const MOUNT_LIMIT_MS = 20_000;
const UNMOUNT_LIMIT_MS = 10_000;
const LOOK_LIMIT_MS = 5_000;

/**
 * Mounts shared volumes of storage clusters on this host, each once for all VMs that have it. A mount is called like its
 * key, so that a key that was revoked is never used again. The kernel knows what is mounted, so the agent keeps no list:
 * mounts stay while it is restarted, and are found again.
 */
export class ShareMounts {
  readonly #options: ShareMountsOptions;
  readonly #oneAtATime = createKeyedQueue();
  /** A program that looks at a mount cannot be ended while the cluster does not reply, so there is one for each. */
  readonly #looks = new Map<string, Promise<MountState>>();

  constructor(options: ShareMountsOptions) {
    this.#options = options;
  }

  pathOf({ user }: Pick<Share, 'user'>): string {
    return join(this.#options.directory, user);
  }

  /** Returns the path of the share, which is mounted. A mount that is dead is replaced. */
  async ensure(share: Share): Promise<string> {
    const path = this.pathOf(share);
    await this.#oneAtATime(path, async () => {
      if ((await this.list()).has(path)) {
        if ((await this.look(path)) !== 'dead') return;
        await this.#detach(path);
      }
      await this.#mount(share, path);
    });
    return path;
  }

  /** Returns the paths of all shares that are mounted. */
  async list(): Promise<Set<string>> {
    return await readMounts(this.#options.directory);
  }

  /** Looks at a mount with a program of its own: a thread of the agent would be blocked while the cluster does not reply. */
  async look(path: string): Promise<MountState> {
    const looking = this.#looks.get(path) ?? this.#startLook(path);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<MountState>((resolve) => {
      timer = setTimeout(() => resolve('silent'), this.#options.lookLimitMs ?? LOOK_LIMIT_MS);
    });
    try {
      return await Promise.race([looking, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #startLook(path: string): Promise<MountState> {
    const looking = this.#options
      .run('stat', ['--format', '%i', path], { timeoutMs: 0 })
      .then(
        (): MountState => 'alive',
        (): MountState => 'dead',
      )
      .finally(() => this.#looks.delete(path));
    this.#looks.set(path, looking);
    return looking;
  }

  /** Throws unless the share replies: to give it to a guest would block libvirt. */
  async requireAlive(path: string): Promise<void> {
    const state = await this.look(path);
    if (state === 'alive') return;
    const problem =
      state === 'silent'
        ? 'the storage cluster does not reply: check its metadata servers and the storage network'
        : 'it is not mounted any more; the agent mounts it again';
    throw new HostFailure('storage_unreachable', `the shared volume at ${path}: ${problem}`);
  }

  /** Unmounts a share unless a program still uses it. Returns whether it is gone. */
  async unmount(path: string, isNeeded: () => boolean = () => false): Promise<boolean> {
    return await this.#oneAtATime(path, async () => {
      if (isNeeded()) return false;
      const { run } = this.#options;
      if ((await this.list()).has(path)) {
        const state = await this.look(path);
        // What is not stored yet would be lost.
        if (state === 'silent') return false;
        if (state === 'dead') await this.#detach(path);
        else await run('umount', [path], { timeoutMs: UNMOUNT_LIMIT_MS });
      }
      await unlessMissing(rmdir(path));
      return true;
    });
  }

  async #mount(share: Share, path: string): Promise<void> {
    const { directory, run, hasSystemd, netns } = this.#options;
    // A guest can leave setuid programs in its share, so only root may enter.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await mkdir(path, { recursive: true, mode: 0o700 });
    const file = join(directory, `.${share.user}.conf`);
    try {
      await withSecretFile(file, renderConf(share), async () => {
        const command = startedApart(['ceph-fuse', ...argumentsOf(share, { file, path })], {
          ...{ hasSystemd, netns },
          unit: `gantry-share-${share.user}`,
        });
        const [program = '', ...args] = command;
        await run(program, args, { timeoutMs: MOUNT_LIMIT_MS });
      });
    } catch (error) {
      await this.#detach(path).catch(() => {});
      throw asMountFailure(error, share);
    }
  }

  /** Removes the mount at once; programs that have it open keep what is left of it. */
  async #detach(path: string): Promise<void> {
    if (!(await this.list()).has(path)) return;
    await this.#options.run('umount', ['--lazy', path], { timeoutMs: UNMOUNT_LIMIT_MS });
  }
}

/** No program of the host follows what a guest has left there. */
function argumentsOf({ user }: Share, { file, path }: { file: string; path: string }): string[] {
  return ['-n', `client.${user}`, '-c', file, path, '-o', 'nosuid,nodev'];
}
