import type { AddressRules } from '@gantry/daemon/address-rules';
import type { Log } from '@gantry/daemon/log';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type { BackupFiles } from './backup-files/backup-files.ts';
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
  imports: CustomImports;
};

/** How files of tenants are fetched. */
export type CustomImports = {
  /** From which addresses. */
  rules: AddressRules;
  /** Ends all downloads. */
  stopping: AbortSignal;
  /** The directory with uploaded files; absent: this scheduler cannot import them. */
  uploads: string | undefined;
};
