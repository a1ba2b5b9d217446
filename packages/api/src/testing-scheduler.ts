import type { Queryable } from '@gantry/db/connect';
import { readDisk } from '@gantry/db/queries/disks';
import { readFirewallRule } from '@gantry/db/queries/firewall-rules';
import { readVm } from '@gantry/db/queries/vms';
import { diskView } from '@gantry/db/views/disk';
import { firewallRuleView } from '@gantry/db/views/firewall-rule';
import { vmView } from '@gantry/db/views/vm';

/**
 * The scheduler's part, for tests that have none: writes the columns it writes and ends the
 * operation as it would, with the whole resource as the result. No host is asked anything.
 */

/** The host has done what was wanted of the VM, its attachments included. */
export async function finishVm(
  sql: Queryable,
  vmId: string,
  observedState: 'running' | 'stopped' | 'crashed' | 'failed',
): Promise<void> {
  await sql`update vms set observed_state = ${observedState}, observed_generation = generation where id = ${vmId}`;
  await sql`update disks set observed_size_gib = size_gib where kind = 'os'
    and id in (select disk_id from disk_attachments where vm_id = ${vmId})`;
  await sql`delete from disk_attachments where vm_id = ${vmId} and desired_state = 'detached'`;
  await sql`update disk_attachments set attached = true where vm_id = ${vmId}`;
  const vm = await readVm(sql, { projectId: await projectOf(sql, vmId), vmId });
  await succeed(sql, vmId, vm && vmView(vm));
}

/** Nothing is left of a deleted VM: its OS disk is gone, its data disks are free. */
export async function finishVmDeletion(sql: Queryable, vmId: string): Promise<void> {
  const vm = await readVm(sql, { projectId: await projectOf(sql, vmId), vmId });
  const osDisks = await sql<{ disk_id: string }[]>`
    select disk_id from disk_attachments where vm_id = ${vmId} and attachment_type = 'os'`;
  await sql`delete from vms where id = ${vmId}`;
  await sql`delete from disks where id = any(${osDisks.map(({ disk_id }) => disk_id)}::uuid[])`;
  await succeed(sql, vmId, vm && vmView(vm));
}

/** The disk has its wanted size, or is gone where that was wanted. */
export async function finishDisk(sql: Queryable, diskId: string): Promise<void> {
  await sql`update disks set observed_size_gib = size_gib where id = ${diskId}`;
  const disk = await readDisk(sql, { projectId: await projectOf(sql, diskId), diskId });
  await sql`delete from disks where id = ${diskId} and desired_state = 'deleted'`;
  await succeed(sql, diskId, disk && diskView(disk));
}

/** Every host concerned has the rule in force, or has let go of it where that was wanted. */
export async function finishRule(sql: Queryable, ruleId: string): Promise<void> {
  await sql`update firewall_rules set applied_generation = generation where id = ${ruleId}`;
  const rule = await readFirewallRule(sql, { projectId: await projectOf(sql, ruleId), ruleId });
  await sql`delete from firewall_rules where id = ${ruleId} and desired_state = 'deleted'`;
  await succeed(sql, ruleId, rule && firewallRuleView(rule));
}

/** Ends the unfinished operation badly, and changes nothing else. */
export async function failOperation(sql: Queryable, resourceId: string): Promise<void> {
  const failure = { code: 'host_failed', message: 'the host could not do it', details: {} };
  await sql`update operations set state = 'FAILED', result = ${sql.json(failure)}, completed_at = now()
    where resource_id = ${resourceId} and state = 'IN_PROGRESS'`;
}

async function succeed(sql: Queryable, resourceId: string, result: object | undefined) {
  if (!result) throw new Error(`there is no resource ${resourceId} to finish`);
  await sql`update operations set state = 'SUCCEEDED', result = ${sql.json({ ...result })}, completed_at = now()
    where resource_id = ${resourceId} and state = 'IN_PROGRESS'`;
}

async function projectOf(sql: Queryable, id: string): Promise<string> {
  const [row] = await sql<{ project_id: string }[]>`
    select project_id from vms where id = ${id} union all select project_id from disks where id = ${id}
    union all select project_id from firewall_rules where id = ${id}`;
  if (!row) throw new Error(`there is no resource ${id} to finish`);
  return row.project_id;
}
