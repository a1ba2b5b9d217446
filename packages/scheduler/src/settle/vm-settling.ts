import type { Queryable } from '@gantry/db/connect';
import type { PlacedVmRow } from '@gantry/db/queries/settle/settle-vms';
import type { FailedGrowth } from './fail-growth.ts';
import type { HostReport, VmReport } from './host-report.ts';

/** One VM of a host, and the host's word on it, inside the transaction that settles the report. */
export type VmSettling = {
  sql: Queryable;
  hostId: string;
  vm: PlacedVmRow;
  report: HostReport;
  word: VmReport;
  /** Found out here, undone once this is written. */
  failedGrowths: FailedGrowth[];
  /** VMs to be removed at the end: whoever creates VMs in their projects waits from then on. */
  removedVmIds: string[];
};
