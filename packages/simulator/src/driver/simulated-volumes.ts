import { HostFailure } from '@gantry/agent/base/failure';
import type { Volume, Volumes } from '@gantry/agent/host-driver';
import type { DiskSpec, Image } from '@gantry/agent/spec';
import { type HostParts, take } from './host-parts.ts';

export class SimulatedVolumes implements Volumes {
  readonly #host: HostParts;
  #missingImages: Set<string> | null = null;

  constructor(host: HostParts) {
    this.#host = host;
  }

  /** Makes the image with this name unavailable. */
  loseImage(name: string): void {
    this.#missingImages ??= new Set();
    this.#missingImages.add(name);
  }

  findImage(name: string): void {
    this.#missingImages?.delete(name);
  }

  async list(): Promise<string[]> {
    await this.#host.faults.pass('read_disk');
    return this.#host.disks.ids();
  }

  async read(diskId: string): Promise<Volume | null> {
    await this.#host.faults.pass('read_disk');
    if (this.#host.disks.isVolume(diskId)) return null;
    const sizeBytes = this.#host.disks.sizeBytes(diskId);
    return sizeBytes === null ? null : { id: diskId, sizeBytes };
  }

  async create(disk: DiskSpec, image: Image | null): Promise<void> {
    await this.#host.faults.pass('create_disk');
    if (disk.rbd || disk.cephfs || this.#host.disks.sizeBytes(disk.id) !== null) return;
    if (image && this.#missingImages?.has(image.name)) {
      throw new HostFailure('image_unavailable', `${image.url} does not reply`);
    }
    if (image) await take(this.#host, this.#host.behaviour.copyMs);
    this.#host.disks.create(disk);
  }

  async grow(disk: DiskSpec): Promise<void> {
    await this.#host.faults.pass('grow_disk');
    this.#host.disks.grow(disk, null);
  }

  async remove(diskId: string): Promise<void> {
    await this.#host.faults.pass('remove_disk');
    this.#host.disks.remove(diskId);
  }
}
