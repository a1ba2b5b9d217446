import type { Queryable } from '@gantry/db/connect';
import { giveBackOrphan } from '@gantry/db/queries/hosts/give-back-orphan';
import {
  claimDevicesOfOrphan,
  insertOrphans,
  listOrphansOfHost,
  removeOrphans,
  type SettledOrphan,
} from '@gantry/db/queries/hosts/orphans';
import { insertReceipts } from '@gantry/db/queries/settle/release-vm';
import type { HostReport } from '../../attached/host-report.ts';
import { matchReceipts } from '../match-receipts.ts';
import { foundOrphans } from './found-orphans.ts';

/** A host has fewer VMs. A host that reports more is wrong, and must not fill the database. */
const MAX_ORPHANS = 256;
/** The project of a receipt if the host does not know the orphan's project. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000';

type Settlement = { hostId: string; report: HostReport; placedVmIds: ReadonlySet<string> };

/**
 * Adopts VMs that the database does not place on this host, and carries out what operators decided
 * about them. An orphan ends only when it is given back, when its host proves that it is gone, or when
 * the database places its VM on this host.
 */
export async function settleOrphans(sql: Queryable, settlement: Settlement): Promise<void> {
  const { hostId, report, placedVmIds } = settlement;
  const known = await listOrphansOfHost(sql, hostId);
  const knownVmIds = new Set(known.map(({ vm_id }) => vm_id));
  const room = Math.max(0, MAX_ORPHANS - known.length);
  const reported = foundOrphans(report);
  const found = reported.filter(({ vmId }) => !knownVmIds.has(vmId) && !placedVmIds.has(vmId));
  await insertOrphans(sql, { hostId, orphans: found.slice(0, room) });
  for (const orphan of known) {
    const { addresses = [] } = reported.find(({ vmId }) => vmId === orphan.vm_id) ?? {};
    if (addresses.length > orphan.devices.length)
      await claimDevicesOfOrphan(sql, { hostId, orphanId: orphan.id, addresses });
    if (placedVmIds.has(orphan.vm_id)) await removeOrphans(sql, [orphan.id]);
    else if (orphan.decision === 'delete') await settleDeleted(sql, orphan, settlement);
    else if (orphan.decision === 'give_back') await giveBackOrphan(sql, orphan.id);
  }
}

async function settleDeleted(
  sql: Queryable,
  orphan: SettledOrphan,
  { hostId, report }: Settlement,
): Promise<void> {
  const { id, vm_id: vmId, revision, devices } = orphan;
  const reported = report.vms.find((vm) => vm.id === vmId);
  if (reported?.state !== 'VM_OBSERVED_STATE_TAKEN_DOWN' || reported.revision !== revision) return;
  const receipts = matchReceipts({ id: vmId, revision, devices }, report.receipts);
  if (receipts.length < devices.length) return;
  const projectId = orphan.project_id ?? NO_PROJECT;
  await insertReceipts(sql, { hostId, vmId, projectId, receipts });
  await removeOrphans(sql, [id]);
}
