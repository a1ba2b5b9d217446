import { stat, statfs } from 'node:fs/promises';
import { nearestDirectory } from '../base/nearest-directory.ts';
import { programRunner, type RunProgram } from '../base/run-program.ts';
import { OURS } from './lvm-driver.ts';
import { parseLogicalVolumes, parseRows, reportArgs } from './lvm-report.ts';
import { NO_THIN_POOL } from './snapshots/lvm-snapshots.ts';
import type { StorageSettings } from './storage-settings.ts';

/** A file system, volume group or thin pool that stores disks, as on the wire. */
export type StoragePool = {
  name: string;
  diskKinds: ('DISK_KIND_PERSISTENT_SSD' | 'DISK_KIND_SHARED_VOLUME')[];
  sizeBytes: number;
  freeBytes: number;
  /** How large all disks in it may be together. */
  offeredBytes: number;
  /** Why its disks can have no snapshots. Absent: they can. */
  lacksSnapshots?: string;
};

type Space = Omit<StoragePool, 'diskKinds'>;

/**
 * Reads where this host stores disks. Shared volumes have a pool of their own unless their directory is in the same
 * file system. A pool that cannot be read is left out, because the rest of the inventory is still useful.
 */
export async function readStoragePools(
  settings: StorageSettings,
  {
    run = programRunner('storage_failed'),
    warn,
  }: { run?: RunProgram; warn: (message: string) => void },
): Promise<StoragePool[]> {
  const { volumes, directory, sharedDirectory } = settings;
  const pools: StoragePool[] = [];
  const add = async (diskKinds: StoragePool['diskKinds'], read: () => Promise<Space>) => {
    try {
      pools.push({ diskKinds, ...(await read()) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      warn(`no size of the storage: ${reason}`);
    }
  };
  const together = volumes.driver === 'file' && (await areTogether(directory, sharedDirectory));
  await add(
    together
      ? ['DISK_KIND_PERSISTENT_SSD', 'DISK_KIND_SHARED_VOLUME']
      : ['DISK_KIND_PERSISTENT_SSD'],
    () => {
      if (volumes.driver === 'file') return readDirectory(directory, settings);
      const { volumeGroup, thinPool } = volumes;
      return thinPool === null
        ? readVolumeGroup(run, volumeGroup)
        : readThinPool(run, `${volumeGroup}/${thinPool}`, settings);
    },
  );
  if (!together)
    await add(['DISK_KIND_SHARED_VOLUME'], () => readDirectory(sharedDirectory, settings));
  return pools;
}

async function areTogether(one: string, other: string): Promise<boolean> {
  const deviceOf = async (path: string) => (await stat(await nearestDirectory(path))).dev;
  return (await deviceOf(one)) === (await deviceOf(other));
}

async function readDirectory(directory: string, settings: StorageSettings): Promise<Space> {
  const { blocks, bavail, bsize } = await statfs(await nearestDirectory(directory));
  const sizeBytes = blocks * bsize;
  const freeBytes = bavail * bsize;
  // Some network file systems have no size.
  if (sizeBytes === 0) throw new Error(`the file system of ${directory} does not report it`);
  return { name: directory, sizeBytes, freeBytes, offeredBytes: offer(sizeBytes, settings) };
}

async function readThinPool(
  run: RunProgram,
  name: string,
  settings: StorageSettings,
): Promise<Space> {
  const [row] = parseRows(await run('lvs', [...reportArgs(['lv_size', 'data_percent']), name]));
  const sizeBytes = numberOf(row?.['lv_size'], name);
  const usedPercent = numberOf(row?.['data_percent'], name);
  const freeBytes = Math.floor(sizeBytes * (1 - usedPercent / 100));
  return { name, sizeBytes, freeBytes, offeredBytes: offer(sizeBytes, settings) };
}

/** Plain volumes take their full size at once, so they can have what no other volume has. */
async function readVolumeGroup(run: RunProgram, name: string): Promise<Space> {
  const [row] = parseRows(await run('vgs', [...reportArgs(['vg_size', 'vg_free']), name]), 'vg');
  const volumes = parseLogicalVolumes(await run('lvs', [...reportArgs(), name]));
  const own = volumes.filter(({ tags }) => tags.includes(OURS));
  const freeBytes = numberOf(row?.['vg_free'], name);
  return {
    name,
    sizeBytes: numberOf(row?.['vg_size'], name),
    freeBytes,
    offeredBytes: own.reduce((sum, { sizeBytes }) => sum + sizeBytes, freeBytes),
    lacksSnapshots: NO_THIN_POOL,
  };
}

function offer(sizeBytes: number, { overcommitPercent, reservePercent }: StorageSettings): number {
  return Math.floor((sizeBytes / 100) * (overcommitPercent - reservePercent));
}

function numberOf(text: string | undefined, name: string): number {
  const value = Number(text || Number.NaN);
  if (!Number.isFinite(value)) throw new Error(`LVM does not report that of ${name}`);
  return value;
}
