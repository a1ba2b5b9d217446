import type { Queryable } from '@gantry/db/connect';
import { firewallRuleView } from '@gantry/db/queries/networks/firewall-rule-view';
import { readFirewallRule } from '@gantry/db/queries/networks/firewall-rules';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { readDisk } from '@gantry/db/queries/vms/disks';
import { vmView } from '@gantry/db/queries/vms/vm-view';
import { readVm } from '@gantry/db/queries/vms/vms';

/**
 * Does the scheduler's part in tests without one. The functions write the columns that the
 * scheduler writes and end the operation with the whole resource as its result. No host is
 * involved.
 */

/** Makes the desired state of the VM and its attachments the observed state. */
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

/** Removes a deleted VM and its OS disk, and detaches its data disks. */
export async function finishVmDeletion(sql: Queryable, vmId: string): Promise<void> {
  const vm = await readVm(sql, { projectId: await projectOf(sql, vmId), vmId });
  const osDisks = await sql<{ disk_id: string }[]>`
    select disk_id from disk_attachments where vm_id = ${vmId} and attachment_type = 'os'`;
  await sql`delete from vms where id = ${vmId}`;
  await sql`delete from disks where id = any(${osDisks.map(({ disk_id }) => disk_id)}::uuid[])`;
  await succeed(sql, vmId, vm && vmView(vm));
}

/** Gives the disk its desired size, or removes it if it is to be deleted. */
export async function finishDisk(sql: Queryable, diskId: string): Promise<void> {
  await sql`update disks set observed_size_gib = size_gib where id = ${diskId}`;
  const disk = await readDisk(sql, { projectId: await projectOf(sql, diskId), diskId });
  await sql`delete from disks where id = ${diskId} and desired_state = 'deleted'`;
  await succeed(sql, diskId, disk && diskView(disk));
}

/** Marks the rule as applied on every host, or removes it if it is to be deleted. */
export async function finishRule(sql: Queryable, ruleId: string): Promise<void> {
  await sql`update firewall_rules set applied_generation = generation where id = ${ruleId}`;
  const rule = await readFirewallRule(sql, { projectId: await projectOf(sql, ruleId), ruleId });
  await sql`delete from firewall_rules where id = ${ruleId} and desired_state = 'deleted'`;
  await succeed(sql, ruleId, rule && firewallRuleView(rule));
}

/** Fails the unfinished operation and changes nothing else. */
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
