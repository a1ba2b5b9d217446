import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type { BackupFiles } from './backup-files.ts';
import type { ImportImages } from './import-images.ts';
import type { StorageClusters } from './storage-clusters.ts';

/** What the steps of the volume controller share. */
export type VolumeContext = {
  sql: Sql;
  log: Log;
  /** Seals the keys of volumes. */
  secrets: Secrets;
  clusters: StorageClusters;
  images: ImportImages;
  backupFiles: BackupFiles;
};
