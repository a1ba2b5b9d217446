import { HostFailure } from '@gantry/agent/base/failure';
import type {
  CopyTarget,
  RestoredDisk,
  SnapshotContent,
  Snapshots,
} from '@gantry/agent/host-snapshots';
import type { DiskSpec } from '@gantry/agent/spec';
import type { StoredSnapshot } from './disk-store.ts';
import { type HostParts, take } from './host-parts.ts';

/** Snapshots of simulated disks. As with disks in files, the hypervisor has to copy a disk that a guest writes to. */
export class SimulatedSnapshots implements Snapshots {
  readonly isInstant = false;
  readonly #host: HostParts;

  constructor(host: HostParts) {
    this.#host = host;
  }

  async list(): Promise<string[]> {
    await this.#host.faults.pass('read_disk');
    return [...this.#host.disks.snapshots.keys()];
  }

  async has(snapshotId: string): Promise<boolean> {
    await this.#host.faults.pass('read_disk');
    return this.#host.disks.snapshots.has(snapshotId);
  }

  async make(snapshotId: string, diskId: string, signal: AbortSignal): Promise<void> {
    const { faults, disks } = this.#host;
    await faults.pass('make_snapshot');
    if (disks.snapshots.has(snapshotId)) return;
    const content = disks.copyAtRest(diskId);
    await take(this.#host, this.#host.behaviour.copyMs);
    signal.throwIfAborted();
    disks.snapshots.set(snapshotId, content);
  }

  async prepareCopy(snapshotId: string, diskId: string): Promise<CopyTarget> {
    if (this.#host.disks.sizeBytes(diskId) === null) {
      throw new HostFailure('disk_missing', `disk ${diskId} does not exist`);
    }
    return await this.readTarget(snapshotId);
  }

  async readTarget(snapshotId: string): Promise<CopyTarget> {
    return { path: `${snapshotId}.new`, format: 'qcow2' };
  }

  async finishCopy(snapshotId: string): Promise<void> {
    const { faults, disks } = this.#host;
    await faults.pass('finish_copy');
    const { path } = await this.readTarget(snapshotId);
    const copy = disks.copies.get(path);
    if (!copy) throw new HostFailure('storage_failed', `${path} does not exist`);
    disks.copies.delete(path);
    disks.snapshots.set(snapshotId, copy);
  }

  async discardCopy(snapshotId: string): Promise<void> {
    this.#host.disks.copies.delete((await this.readTarget(snapshotId)).path);
  }

  async remove(snapshotId: string): Promise<void> {
    await this.#host.faults.pass('remove_snapshot');
    this.#host.disks.snapshots.delete(snapshotId);
    await this.discardCopy(snapshotId);
  }

  async withContent<T>(
    snapshotId: string,
    read: (content: SnapshotContent) => Promise<T>,
  ): Promise<T> {
    await this.#host.faults.pass('read_snapshot');
    const { sizeBytes, content } = this.#require(snapshotId);
    const data = (async function* () {
      if (content !== '') yield { offset: 0, data: Buffer.from(content) };
    })();
    return await read({ sizeBytes: Number(sizeBytes), data });
  }

  async createDisk(disk: DiskSpec, snapshotId: string, signal: AbortSignal): Promise<void> {
    const { faults, disks } = this.#host;
    await faults.pass('copy_snapshot');
    if (disks.sizeBytes(disk.id) !== null) return;
    const { content } = this.#require(snapshotId);
    await take(this.#host, this.#host.behaviour.copyMs);
    signal.throwIfAborted();
    disks.create(disk, content);
  }

  async restoreDisk({ diskId, snapshotId }: RestoredDisk): Promise<void> {
    const { faults, disks } = this.#host;
    await faults.pass('restore_disk');
    const { content } = this.#require(snapshotId);
    disks.replaceContent(diskId, content);
  }

  #require(snapshotId: string): StoredSnapshot {
    const snapshot = this.#host.disks.snapshots.get(snapshotId);
    if (snapshot) return snapshot;
    throw new HostFailure('snapshot_missing', `snapshot ${snapshotId} is not on this host`);
  }
}
