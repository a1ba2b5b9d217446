import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DiskSpec } from '@gantry/agent/spec';
import { DiskStore } from '../driver/disk-store.ts';

type KeptDisk = Pick<DiskSpec, 'id' | 'kind' | 'sizeBytes'>;

/**
 * Disks that survive a restart of the process: a file lists them with their sizes. A fleet that
 * restarts still has the disks of its VMs.
 */
export class KeptDisks extends DiskStore {
  readonly #file: string;
  readonly #kept = new Map<string, KeptDisk>();

  constructor(file: string) {
    super();
    this.#file = file;
    for (const disk of readDisks(file)) {
      this.#kept.set(disk.id, disk);
      super.create(disk as DiskSpec);
    }
  }

  override create(disk: DiskSpec): void {
    super.create(disk);
    this.#keep(disk);
  }

  override grow(disk: DiskSpec, user: object | null): void {
    super.grow(disk, user);
    this.#keep(disk);
  }

  override remove(diskId: string): void {
    super.remove(diskId);
    if (this.#kept.delete(diskId)) this.#save();
  }

  /** A volume of a storage cluster is there again when it is opened. */
  #keep({ id, kind, sizeBytes, rbd, cephfs }: DiskSpec): void {
    if (rbd || cephfs) return;
    this.#kept.set(id, { id, kind, sizeBytes });
    this.#save();
  }

  #save(): void {
    const beside = `${this.#file}.new`;
    writeFileSync(beside, JSON.stringify([...this.#kept.values()]));
    renameSync(beside, this.#file);
  }
}

function readDisks(file: string): KeptDisk[] {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as KeptDisk[];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new Error(`the simulated disks in ${file} cannot be read`, { cause: error });
  }
}
