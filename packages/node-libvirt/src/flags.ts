/** Flags and numbers from libvirt's headers that callers need, one object for each enum. */

/** virDomainModificationImpact */
export const AFFECT = { current: 0, live: 1, config: 2 } as const;

/** virDomainDefineFlags */
export const DEFINE = { validate: 1 } as const;

/** virDomainUndefineFlagsValues */
export const UNDEFINE = {
  managedSave: 1,
  snapshotsMetadata: 2,
  nvram: 4,
  keepNvram: 8,
  checkpointsMetadata: 16,
  tpm: 32,
  keepTpm: 64,
} as const;

/** virDomainCreateFlags */
export const START = {
  paused: 1,
  autodestroy: 2,
  bypassCache: 4,
  forceBoot: 8,
  validate: 16,
  resetNvram: 32,
} as const;

/** virDomainShutdownFlagValues. virDomainRebootFlagValues has the same numbers. */
export const SHUTDOWN = {
  default: 0,
  acpiPowerButton: 1,
  guestAgent: 2,
  initctl: 4,
  signal: 8,
  paravirt: 16,
} as const;

/** virConnectListAllDomainsFlags */
export const LIST_DOMAINS = {
  active: 1,
  inactive: 2,
  persistent: 4,
  transient: 8,
  running: 16,
  paused: 32,
  shutoff: 64,
  other: 128,
} as const;

/** virDomainMetadataType */
export const METADATA = { description: 0, title: 1, element: 2 } as const;

/** virDomainState */
export const DOMAIN_STATE = {
  none: 0,
  running: 1,
  blocked: 2,
  paused: 3,
  shutdown: 4,
  shutoff: 5,
  crashed: 6,
  pmSuspended: 7,
} as const;

/** virDomainBlockResizeFlags. Without this flag the size is in KiB. */
export const BLOCK_RESIZE = { bytes: 1 } as const;

/** virSecretUsageType */
export const SECRET_USAGE = { none: 0, volume: 1, ceph: 2, iscsi: 3, tls: 4, vtpm: 5 } as const;

/** virDomainBackupBeginFlags */
export const BACKUP_BEGIN = { reuseExternal: 1 } as const;

/** virDomainJobType */
export const JOB_TYPE = {
  none: 0,
  bounded: 1,
  unbounded: 2,
  completed: 3,
  failed: 4,
  cancelled: 5,
} as const;

/** virDomainGetJobStatsFlags */
export const JOB_STATS = { completed: 1, keepCompleted: 2 } as const;
