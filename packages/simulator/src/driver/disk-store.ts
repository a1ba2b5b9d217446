import { HostFailure } from '@gantry/agent/base/failure';
import type { DiskSpec } from '@gantry/agent/spec';
import { isBelow } from '@gantry/agent/spec';

type StoredDisk = {
  kind: DiskSpec['kind'];
  sizeBytes: string;
  /** What stands for the data on it. Only tests write to simulated disks. */
  content: string;
  /** A storage cluster stores it: it exists before a host opens it, and no host creates or removes it. */
  isVolume: boolean;
  /** The users that have it open, and whether they only read. */
  users: Map<object, { readOnly: boolean }>;
};

export type StoredSnapshot = Readonly<{ sizeBytes: string; content: string }>;

/**
 * Stores disks, for one host or shared by all hosts of a location. A user is a running domain, so a
 * VM that runs on two hosts is two users.
 */
export class DiskStore {
  readonly #disks = new Map<string, StoredDisk>();
  readonly snapshots = new Map<string, StoredSnapshot>();
  /** Copies of disks of running guests that are not snapshots yet, by path. */
  readonly copies = new Map<string, StoredSnapshot>();

  /** Without the volumes of storage clusters, which a host cannot list. */
  ids(): string[] {
    return [...this.#disks].flatMap(([id, { isVolume }]) => (isVolume ? [] : [id]));
  }

  isVolume(diskId: string): boolean {
    return this.#disks.get(diskId)?.isVolume ?? false;
  }

  sizeBytes(diskId: string): string | null {
    return this.#disks.get(diskId)?.sizeBytes ?? null;
  }

  create(disk: DiskSpec, content = ''): void {
    if (this.#disks.has(disk.id)) return;
    const { kind, sizeBytes } = disk;
    const users = new Map();
    this.#disks.set(disk.id, { kind, sizeBytes, content, isVolume: isVolume(disk), users });
  }

  content(diskId: string): string | null {
    return this.#disks.get(diskId)?.content ?? null;
  }

  /** As a guest or a test does. */
  write(diskId: string, content: string): void {
    this.#require(diskId).content = content;
  }

  copy(diskId: string): StoredSnapshot {
    const { sizeBytes, content } = this.#require(diskId);
    return { sizeBytes, content };
  }

  /** Only if no guest writes to it. */
  copyAtRest(diskId: string): StoredSnapshot {
    const { users } = this.#require(diskId);
    if ([...users.values()].some(({ readOnly }) => !readOnly)) {
      throw new HostFailure('disk_in_use', `disk ${diskId} is open`);
    }
    return this.copy(diskId);
  }

  replaceContent(diskId: string, content: string): void {
    const disk = this.#require(diskId);
    if (disk.users.size > 0) throw new HostFailure('disk_in_use', `disk ${diskId} is open`);
    disk.content = content;
  }

  /** With or without a user that has it open. */
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
    if (!disk?.isVolume) this.#disks.delete(diskId);
  }

  open(spec: DiskSpec, user: object): void {
    const { id, readOnly } = spec;
    if (isVolume(spec)) this.create(spec);
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

function isVolume({ rbd, cephfs }: DiskSpec): boolean {
  return !!rbd || !!cephfs;
}
