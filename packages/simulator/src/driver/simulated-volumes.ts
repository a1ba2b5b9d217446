import { createHash } from 'node:crypto';
import { HostFailure } from '@gantry/agent/base/failure';
import type { Volume, Volumes } from '@gantry/agent/host-driver';
import type { ImageTransfers } from '@gantry/agent/link/image-transfers';
import type { DiskSpec, Image } from '@gantry/agent/spec';
import { type HostParts, take } from './host-parts.ts';

const KEPT_BYTES = 1024;

export class SimulatedVolumes implements Volumes {
  readonly #host: HostParts;
  #missingImages: Set<string> | null = null;
  #openImage: ImageTransfers['open'] | null = null;
  /** The content of images of projects, by SHA-256. */
  readonly #fetched = new Map<string, string>();

  constructor(host: HostParts) {
    this.#host = host;
  }

  /** Images of projects are fetched from schedulers by this. */
  fetchBy(openImage: ImageTransfers['open']): void {
    this.#openImage = openImage;
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
    this.#host.disks.create(disk, image && image.id !== '' ? await this.#fetch(image) : '');
  }

  /** Fetches an image as an agent does, once, and keeps its first bytes, which stand for its content. */
  async #fetch({ id, sha256 }: Image): Promise<string> {
    const known = this.#fetched.get(sha256);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    let start = Buffer.alloc(0);
    try {
      if (this.#openImage === null) throw new Error('no scheduler is known');
      const { stream } = await this.#openImage(id);
      for await (const data of stream as AsyncIterable<Buffer>) {
        if (start.length < KEPT_BYTES) start = Buffer.concat([start, data.subarray(0, KEPT_BYTES)]);
        hash.update(data);
      }
    } catch (error) {
      throw new HostFailure('image_unavailable', (error as Error).message);
    }
    if (hash.digest('hex') !== sha256)
      throw new HostFailure('image_unavailable', 'it has another SHA-256');
    const end = start.indexOf(0);
    const content = start.toString('utf8', 0, end < 0 ? KEPT_BYTES : end);
    this.#fetched.set(sha256, content);
    return content;
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
