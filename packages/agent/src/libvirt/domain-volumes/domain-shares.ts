import type { Log } from '@gantry/daemon/log';
import type { Clock } from '../../base/clock.ts';
import type { DiskSpec } from '../../spec.ts';
import type { Share } from '../../volumes/cephfs/share.ts';
import type { MountState, ShareMounts } from '../../volumes/cephfs/share-mounts.ts';
import type { DomainView, SeenDomain } from '../domains/domain-view.ts';
import type { FoundDomain } from '../domains/libvirt-domains.ts';

type DomainSharesOptions = {
  view: Pick<DomainView, 'list'>;
  mounts: Pick<ShareMounts, 'pathOf' | 'list' | 'look' | 'requireAlive' | 'unmount'>;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
};

/** How often mounts that nothing uses any more are removed, and the others are looked at. */
const PAUSE_MS = 30_000;

/**
 * The shared volumes of storage clusters that the domains of a host have. A share is mounted before its domain is defined,
 * and unmounted when no domain names it any more. Neither is recorded: after a restart of the agent, libvirt and the kernel
 * show what is used and what is mounted.
 */
export class DomainShares {
  readonly #options: DomainSharesOptions;
  /** The paths that each VM needs by disk, also for disks that are about to be attached. */
  readonly #needed = new Map<string, Map<string, string>>();
  readonly #states = new Map<string, MountState>();

  constructor(options: DomainSharesOptions) {
    this.#options = options;
  }

  /** The VM needs the shares of these disks, and no others. Called before they are mounted. */
  needAll(vmId: string, disks: readonly DiskSpec[]): void {
    const paths = this.#pathsOf(disks);
    if (paths.size > 0) this.#needed.set(vmId, paths);
    else this.#needed.delete(vmId);
  }

  /** The VM needs one more. */
  need(vmId: string, disk: DiskSpec): void {
    const paths = this.#pathsOf([disk]);
    if (paths.size > 0)
      this.#needed.set(vmId, new Map([...(this.#needed.get(vmId) ?? []), ...paths]));
  }

  /** The VM has the disk no longer; without a disk, it has no disk any more. */
  release(vmId: string, diskId?: string): void {
    if (diskId === undefined) this.#needed.delete(vmId);
    else this.#needed.get(vmId)?.delete(diskId);
  }

  /** Throws unless every share of the domain replies. */
  async requireAlive({ facts }: FoundDomain): Promise<void> {
    const mounted = await this.#options.mounts.list();
    for (const { path } of facts.filesystems)
      if (mounted.has(path)) await this.#options.mounts.requireAlive(path);
  }

  /** Throws unless the share replies. */
  async requireReply(share: Share): Promise<void> {
    const { mounts } = this.#options;
    await mounts.requireAlive(mounts.pathOf(share));
  }

  /**
   * Unmounts what no domain names. Unmounts nothing while a domain does not reply, because its disks are not known for
   * sure then. Never throws: the next look repeats what has failed.
   */
  async removeUnused(): Promise<void> {
    const { view, mounts, log } = this.#options;
    try {
      const mounted = await mounts.list();
      if (mounted.size === 0) return;
      const domains = await view.list();
      if (domains.some(({ last, silence }) => last === null || silence !== null)) return;
      const used = pathsIn(domains);
      for (const path of mounted) {
        if (used.has(path)) continue;
        const isGone = await mounts.unmount(path, () => this.#isNeeded(path));
        if (isGone) log.info({ path }, 'unmounted a shared volume that no VM has');
      }
    } catch (error) {
      log.warn({ error }, 'shared volumes not unmounted; will be retried');
    }
  }

  /** Looks at the mounts again and again. Returns a function that ends this. */
  watch(): () => void {
    const { clock } = this.#options;
    let cancel = () => {};
    let isEnded = false;
    const next = () => {
      if (!isEnded) cancel = clock.after(PAUSE_MS, run);
    };
    const run = () => void this.lookAtAll().finally(next);
    next();
    return () => {
      isEnded = true;
      cancel();
    };
  }

  /** Logs when a share is lost, because the guests that have it cannot be given it again without a restart. */
  async lookAtAll(): Promise<void> {
    await this.removeUnused();
    const { view, mounts, log } = this.#options;
    try {
      const mounted = await mounts.list();
      for (const path of this.#states.keys()) if (!mounted.has(path)) this.#states.delete(path);
      const states = await Promise.all(
        [...mounted].map(async (path) => [path, await mounts.look(path)] as const),
      );
      for (const [path, state] of states) {
        if ((this.#states.get(path) ?? 'alive') === state) continue;
        this.#states.set(path, state);
        const fields = { path, vm_ids: usersOf(path, await view.list()) };
        if (state === 'alive') log.info(fields, 'shared volume replies again');
        if (state === 'silent')
          log.warn(fields, 'shared volume does not reply; guests wait for it');
        if (state === 'dead')
          log.error(fields, 'shared volume lost: stop and start the VMs that have it');
      }
    } catch (error) {
      log.warn({ error }, 'shared volumes not looked at; will be retried');
    }
  }

  #isNeeded(path: string): boolean {
    return [...this.#needed.values()].some((paths) => [...paths.values()].includes(path));
  }

  #pathsOf(disks: readonly DiskSpec[]): Map<string, string> {
    const { mounts } = this.#options;
    return new Map(
      disks.flatMap(({ id, cephfs }) => (cephfs ? [[id, mounts.pathOf(cephfs)] as const] : [])),
    );
  }
}

function pathsIn(domains: readonly SeenDomain[]): Set<string> {
  return new Set(
    domains.flatMap(({ last }) => last?.facts.filesystems.map(({ path }) => path) ?? []),
  );
}

function usersOf(path: string, domains: readonly SeenDomain[]): string[] {
  return domains.flatMap((domain) => (pathsIn([domain]).has(path) ? [domain.vmId] : []));
}
