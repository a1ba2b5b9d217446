import { join } from 'node:path';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';

/** Where a host stores disks, and how much of it they may take. */
export type StorageSettings = {
  volumes: { driver: 'file' } | { driver: 'lvm'; volumeGroup: string; thinPool: string | null };
  /** The directory of disks that are files. */
  directory: string;
  sharedDirectory: string;
  /** The share of the storage that new disks leave free. */
  reservePercent: number;
  /** How large all disks together may be, as a share of the storage. */
  overcommitPercent: number;
};

/** Not below the state directory, which only root may enter: QEMU runs as its own user. */
const DATA_DIRECTORY = '/var/lib/gantry-data';

export function readDataDirectory(reader: SettingsReader): string {
  return reader.text('GANTRY_DATA_DIRECTORY', DATA_DIRECTORY);
}

export function readStorageSettings(reader: SettingsReader): StorageSettings {
  const dataDirectory = readDataDirectory(reader);
  return {
    volumes: readVolumeSettings(reader),
    directory: join(dataDirectory, 'volumes'),
    sharedDirectory: reader.text('GANTRY_SHARED_DIRECTORY', join(dataDirectory, 'shared')),
    reservePercent: reader.integer('GANTRY_STORAGE_RESERVE_PERCENT', {
      ...{ fallback: 5, min: 0, max: 90 },
    }),
    overcommitPercent: reader.integer('GANTRY_STORAGE_OVERCOMMIT_PERCENT', {
      ...{ fallback: 100, min: 100, max: 100_000 },
    }),
  };
}

function readVolumeSettings(reader: SettingsReader): StorageSettings['volumes'] {
  const driver = reader.text('GANTRY_VOLUME_DRIVER', 'file');
  if (driver === 'file') return { driver };
  if (driver !== 'lvm') {
    throw new SettingsError(`GANTRY_VOLUME_DRIVER must be file or lvm, not "${driver}"`);
  }
  return {
    driver,
    volumeGroup: reader.text('GANTRY_VOLUME_GROUP'),
    thinPool: reader.optional('GANTRY_THIN_POOL') ?? null,
  };
}
