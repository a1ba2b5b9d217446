import { dirname } from 'node:path';
import { HostFailure } from '../../base/failure.ts';
import { createQueue } from '../../base/queue.ts';
import { chooseProject, limitOf } from './choose-project.ts';
import { isLimited, type LimitedDirectory } from './limited-directory.ts';
import { NO_LIMIT, type ProjectPrograms } from './project-programs.ts';
import type { QuotaMount } from './quota-mount.ts';

export type ProjectLimitsOptions = {
  programs: ProjectPrograms;
  readMount: () => Promise<QuotaMount | null>;
  /** How many files a directory may have that gets a project later. */
  mostEntries?: number;
  /** Where the search for a free project starts. Absent: anywhere. */
  start?: number;
};

/** A host with slow drives changes about as many within a minute. */
const MOST_ENTRIES = 100_000;

/**
 * Limits what directories can use, with project quotas of their file system. Every directory has a project of its own,
 * which everything below it inherits, and the project has the limit. Nothing is limited if the file system has no
 * project quotas.
 *
 * The file system is the only record: a directory shows its project, and the quotas show which projects are taken, also
 * by other programs. A directory gets its project before the project gets its limit, and the limit is removed before
 * the directory. So a crash leaves no limit that belongs to no directory, and every step can be repeated.
 */
export class ProjectLimits {
  readonly #options: ProjectLimitsOptions;
  /** Serialises the choices, because a project is free until a directory has it. */
  readonly #choose = createQueue();
  readonly #reserved = new Set<number>();

  constructor(options: ProjectLimitsOptions) {
    this.#options = options;
  }

  /**
   * Limits a directory that is empty and not in use. A project that it has inherited from the directory above is
   * replaced. Throws if the file system has project quotas and the limit is not in force afterwards.
   */
  async limitNew(directory: LimitedDirectory): Promise<void> {
    const mount = await this.#readEnforced();
    if (mount === null) return;
    const { path } = directory;
    const { programs } = this.#options;
    await this.#withFreeProject(mount, async (id) => {
      await programs.assign(path, id);
      try {
        await this.#limit(mount, id, directory);
      } catch (error) {
        // Otherwise the project would stay taken after the directory is removed.
        await programs.limit(mount.mountPoint, id, NO_LIMIT).catch(() => {});
        throw error;
      }
    });
  }

  /**
   * Sets the limit of a directory to its size. A directory from before there were quotas gets a project, unless it is in
   * use or has too many files. Returns why it has no limit; null if it has one, or if the file system has no project
   * quotas.
   */
  async limitExisting(
    directory: LimitedDirectory,
    isInUse: () => Promise<boolean>,
  ): Promise<string | null> {
    const mount = await this.#readEnforced();
    if (mount === null) return null;
    const { programs, mostEntries = MOST_ENTRIES } = this.#options;
    const { path } = directory;
    const own = await this.#ownProject(path);
    if (own !== null) {
      await this.#limit(mount, own, directory);
      return null;
    }
    // A program that replaces a file while the project of the directory changes would get EXDEV.
    if (await isInUse()) return 'it has no project yet, and a running VM has it';
    if ((await programs.countBelow(path, mostEntries)) > mostEntries) {
      return `it has no project yet, and more than ${mostEntries} files`;
    }
    await this.#withFreeProject(mount, async (id) => {
      await programs.assignBelow(path, id);
      // Last, because it marks what is below as complete.
      await programs.assign(path, id);
      await this.#limit(mount, id, directory);
    });
    return null;
  }

  /** Removes the limit of a directory that is about to be removed. */
  async release(path: string): Promise<void> {
    const mount = await this.#readEnforced();
    if (mount === null) return;
    const id = await this.#ownProject(path);
    if (id !== null) await this.#options.programs.limit(mount.mountPoint, id, NO_LIMIT);
  }

  async #readEnforced(): Promise<QuotaMount | null> {
    const mount = await this.#options.readMount();
    return mount?.state === 'enforced' ? mount : null;
  }

  /** Returns null if the directory has no project, or only that of the directory above. */
  async #ownProject(path: string): Promise<number | null> {
    const { readProject } = this.#options.programs;
    const { id, isInherited } = await readProject(path);
    if (id === 0 || !isInherited) return null;
    return (await readProject(dirname(path))).id === id ? null : id;
  }

  async #withFreeProject(
    { mountPoint }: QuotaMount,
    work: (id: number) => Promise<void>,
  ): Promise<void> {
    const { programs, start } = this.#options;
    const id = await this.#choose(async () => {
      const used = await programs.listUsed(mountPoint);
      const free = chooseProject((each) => used.has(each) || this.#reserved.has(each), start);
      this.#reserved.add(free);
      return free;
    });
    try {
      await work(id);
    } finally {
      // From now on the directory shows that it is taken.
      this.#reserved.delete(id);
    }
  }

  async #limit({ mountPoint }: QuotaMount, id: number, directory: LimitedDirectory): Promise<void> {
    await this.#options.programs.limit(mountPoint, id, limitOf(directory.sizeBytes));
    if (await isLimited(directory)) return;
    const message =
      `the limit of shared volume ${directory.diskId} is not in force, although ${mountPoint} is mounted with ` +
      `prjquota: turn quotas on with quotaon -P ${mountPoint}`;
    throw new HostFailure('storage_failed', message);
  }
}
