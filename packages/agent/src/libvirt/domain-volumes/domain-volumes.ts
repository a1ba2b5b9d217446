import type { Log } from '@gantry/daemon/log';
import type { Connection } from 'node-libvirt/connection';
import type { DiskSpec, VmSpec } from '../../spec.ts';
import { diskInUse } from '../../volumes/check-disk.ts';
import type { DomainView } from '../domains/domain-view.ts';
import type { FoundDomain } from '../domains/libvirt-domains.ts';
import type { DomainShares } from './domain-shares.ts';
import { asStorageFailure, type ProbeMonitor } from './storage-failure.ts';
import { VolumeSecrets } from './volume-secrets.ts';
import { volumesOf } from './volume-sizes.ts';

type DomainVolumesOptions = {
  view: Pick<DomainView, 'list' | 'usersOf'>;
  /** The main connection to libvirt. Waits for a restart of libvirt. */
  connection(): Promise<Connection>;
  log: Pick<Log, 'warn'>;
  /** The shared volumes that the domains have. */
  shares: DomainShares;
  probe?: ProbeMonitor;
};

/** What the domains of a host need for the volumes of storage clusters that they have. */
export class DomainVolumes {
  readonly secrets = new VolumeSecrets();
  readonly shares: DomainShares;
  readonly #options: DomainVolumesOptions;

  constructor(options: DomainVolumesOptions) {
    this.#options = options;
    this.shares = options.shares;
  }

  /** Before the VM is defined. Returns whether a key that it had is no longer needed. */
  async ensureAll(connection: Connection, { id, disks }: VmSpec): Promise<boolean> {
    this.shares.needAll(id, disks);
    return await this.secrets.ensureAll(connection, id, disks);
  }

  /** Before one more disk of the VM is attached. */
  async ensure(connection: Connection, vmId: string, disk: DiskSpec): Promise<void> {
    this.shares.need(vmId, disk);
    await this.secrets.ensure(connection, vmId, disk);
  }

  /** The VM has the disk no longer; without a disk, it has no disk any more. */
  release(vmId: string, diskId?: string): void {
    this.secrets.release(vmId, diskId);
    this.shares.release(vmId, diskId);
  }

  async removeUnused(hasUnusedSecrets: boolean): Promise<void> {
    if (hasUnusedSecrets) await this.removeUnusedSecrets();
    await this.shares.removeUnused();
  }

  /** Throws unless the domain can be started with its disks now. */
  async requireAllUsable(domain: FoundDomain): Promise<void> {
    await this.requireFree(domain.vmId, volumesOf(domain));
    await this.shares.requireAlive(domain);
  }

  /** Throws unless the disk can be attached now. */
  async requireUsable(vmId: string, disk: DiskSpec): Promise<void> {
    if (disk.rbd) await this.requireFree(vmId, [disk]);
    if (disk.cephfs) await this.shares.requireReply(disk.cephfs);
  }

  /**
   * Throws if another domain of this host has one of the volumes open, unless all of them only read. QEMU locks local
   * disks itself, but two of them can write to one volume: they pass its lock to each other.
   */
  async requireFree(
    vmId: string,
    volumes: readonly { id: string | null; readOnly: boolean }[],
  ): Promise<void> {
    for (const { id, readOnly } of volumes) {
      if (id === null) continue;
      const others = (await this.#options.view.usersOf(id)).filter((user) => user.vmId !== vmId);
      if (others.some((other) => !(readOnly && other.readOnly))) throw diskInUse(id);
    }
  }

  /** Runs a change of a domain. A failure of its storage says what to do about it. */
  async explain<T>(vmId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { probe } = this.#options;
      const monitors = this.secrets.monitorsOf(vmId);
      throw await asStorageFailure(error, { monitors, ...(probe ? { probe } : {}) });
    }
  }

  /** libvirt may have been restarted, which removes all secrets; or the agent was, before it removed one. */
  async reconnected(): Promise<void> {
    await this.#attempt((connection) => this.secrets.restore(connection));
    await this.removeUnusedSecrets();
  }

  /** Never throws: a secret that stays opens a volume whose key the control plane has revoked. */
  async removeUnusedSecrets(): Promise<void> {
    await this.#attempt(async (connection) => {
      await this.secrets.removeUnused(connection, await this.#options.view.list());
    });
  }

  async #attempt(work: (connection: Connection) => Promise<void>): Promise<void> {
    try {
      await work(await this.#options.connection());
    } catch (error) {
      this.#options.log.warn({ error }, 'secrets of volumes not updated; will be retried');
    }
  }
}
