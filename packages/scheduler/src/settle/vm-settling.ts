import type { Queryable } from '@gantry/db/connect';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import type { HostReport, VmReport } from '../attached/host-report.ts';

export type Failure = { code: string; message: string };

/** A disk that its host could not grow. */
export type FailedGrowth = { diskId: string; failure: Failure };

/** One VM of a host and its entry in the report, inside the transaction that settles the report. */
export type VmSettling = {
  sql: Queryable;
  hostId: string;
  vm: PlacedVmRow;
  /** Whether the last VMs that were built on the host failed. */
  hasFailedBuilds: boolean;
  /** Whether other hosts reach the disks of the VM. */
  sharedStorage: boolean;
  report: HostReport;
  vmReport: VmReport;
  /** Disks that the host could not grow. They are reverted after this transaction. */
  failedGrowths: FailedGrowth[];
  /** VMs that several hosts could not build. The hosts are forgiven after this transaction. */
  builtNowhere: { vmId: string; hostIds: readonly string[] }[];
  /** VMs to remove at the end, because creations in their projects wait for the removal. */
  removedVmIds: string[];
};
