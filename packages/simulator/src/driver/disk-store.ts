import { HostFailure } from '@gantry/agent/base/failure';
import type { DiskSpec } from '@gantry/agent/spec';
import { isBelow } from '@gantry/agent/spec';

type StoredDisk = {
  kind: DiskSpec['kind'];
  sizeBytes: string;
  /** Who has it open, and whether only to read. */
  users: Map<object, { readOnly: boolean }>;
};

/**
 * Where disks lie: one host's own, or one that all hosts of a location share. A user is a running
 * domain, so the same VM running on two hosts is two users.
 */
export class DiskStore {
  readonly #disks = new Map<string, StoredDisk>();

  ids(): string[] {
    return [...this.#disks.keys()];
  }

  sizeBytes(diskId: string): string | null {
    return this.#disks.get(diskId)?.sizeBytes ?? null;
  }

  create(disk: DiskSpec): void {
    if (this.#disks.has(disk.id)) return;
    const { kind, sizeBytes } = disk;
    this.#disks.set(disk.id, { kind, sizeBytes, users: new Map() });
  }

  /** At rest, or under its user. */
  grow({ id, sizeBytes }: DiskSpec, user: object | null): void {
    const disk = this.#require(id);
    if (isBelow(sizeBytes, disk.sizeBytes)) {
      throw new HostFailure('disk_shrink', `disk ${id} has ${disk.sizeBytes} bytes already`);
    }
    if (user === null && disk.users.size > 0) {
      throw new HostFailure('disk_in_use', `disk ${id} is open and cannot be grown from outside`);
    }
    disk.sizeBytes = sizeBytes;
  }

  remove(diskId: string): void {
    const disk = this.#disks.get(diskId);
    if (disk && disk.users.size > 0) {
      throw new HostFailure('disk_in_use', `disk ${diskId} is open and cannot be removed`);
    }
    this.#disks.delete(diskId);
  }

  open({ id, readOnly }: DiskSpec, user: object): void {
    const disk = this.#require(id);
    const others = [...disk.users].filter(([other]) => other !== user);
    const isShared = disk.kind === 'DISK_KIND_SHARED_VOLUME';
    const allRead = readOnly && others.every(([, other]) => other.readOnly);
    if (others.length > 0 && !isShared && !allRead) {
      throw new HostFailure('disk_in_use', `disk ${id} is open in another domain`);
    }
    disk.users.set(user, { readOnly });
  }

  close(diskId: string, user: object): void {
    this.#disks.get(diskId)?.users.delete(user);
  }

  #require(diskId: string): StoredDisk {
    const disk = this.#disks.get(diskId);
    if (!disk) throw new HostFailure('disk_missing', `disk ${diskId} does not exist`);
    return disk;
  }
}
