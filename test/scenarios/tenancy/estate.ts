import { insertEvents } from '@gantry/db/queries/operations/events';
import { newId } from '@gantry/model/ids';
import type { TestApi } from '@gantry/testkit/api/test-api';
import { addBackup } from '@gantry/testkit/make/backups';
import { addProjectImage } from '@gantry/testkit/make/images';
import { recordReceipt } from '@gantry/testkit/make/receipts';
import { addSnapshot } from '@gantry/testkit/make/snapshots';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
} from '@gantry/testkit/make/tenants';

/** A tenant with one resource of each kind, by the names of path parameters. */
export type Estate = TestTenant & {
  ids: Record<string, string>;
  spareUserId: string;
  spareUserEmail: string;
};

export async function makeEstate(api: TestApi, name: string): Promise<Estate> {
  const tenant = await makeTenant(api, name);
  const project = `/projects/${tenant.projectId}`;
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await api.call(method, path, { bearer: tenant.owner.token, body });
    if (reply.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const vm = await send('POST', `${project}/vms`, {
    ...{ name: `${name}-vm`, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  const disk = await send('POST', `${project}/disks`, {
    name: `${name}-disk`,
    size: '1GiB',
    location: 'eu-north-a',
  });
  const snapshotOfDisk = await addSnapshot(api.sql, {
    ...{
      projectId: tenant.projectId,
      diskId: disk.operation.metadata.id,
      name: `${name}-snapshot`,
    },
  });
  const diskId = disk.operation.metadata.id;
  const backupOfDisk = await addBackup(api.sql, {
    ...{ projectId: tenant.projectId, diskId, name: `${name}-backup` },
  });
  await api.sql`insert into backup_schedules (disk_id, every_hours, keep, next_at)
    values (${diskId}, 24, 7, now() + interval '1 day')`;
  const image = await addProjectImage(api.sql, {
    ...{ projectId: tenant.projectId, name: `${name}-image` },
  });
  const network = await send('POST', `${project}/vpc/networks`, {
    name: `${name}-net`,
    cidr: '10.0.0.0/16',
  });
  const subnet = await send('POST', `${project}/vpc/subnets`, {
    ...{
      name: `${name}-subnet`,
      cidr: '10.0.0.0/24',
      location: 'eu-north-a',
      vpc_network_id: network.id,
    },
  });
  const rule = await send('POST', `${project}/vpc/firewall-rules`, {
    ...{ name: `${name}-rule`, vpc_network_id: network.id, action: 'allow', direction: 'ingress' },
    ...{ protocols: ['tcp'], sources: [], destinations: [], destination_ports: ['443'] },
  });
  const accessKey = await send('POST', `${project}/access-keys`, { name: `${name}-key` });
  const sshKey = await send('POST', `${project}/ssh-keys`, {
    ...{ name: `${name}-ssh`, public_key: SSH_PUBLIC_KEY },
  });
  const ownKey = await send('POST', '/auth/ssh-keys', {
    ...{ name: `${name}-own`, public_key: SSH_PUBLIC_KEY },
  });
  await api.sql`insert into public_addresses (id, location, address)
    select ${newId()}, 'eu-north-a', '198.18.0.0'::inet + count(*) from public_addresses`;
  const address = await send('POST', `${project}/vpc/public-addresses`, {
    ...{ name: `${name}-address`, location: 'eu-north-a' },
  });
  const webhook = await send('POST', `${project}/webhooks`, {
    ...{ name: `${name}-webhook`, url: `https://${name}.test/` },
  });
  const delivery = await send('POST', `${project}/webhooks/${webhook.id}:test`);
  const spare = await makeUser(api, `spare@${name}.test`);
  const member = await send('POST', `/organizations/${tenant.organizationId}/members`, {
    ...{ email: spare.email, role: 'read-only', project_id: tenant.projectId },
  });
  const vmId: string = vm.operation.metadata.id;
  const told = await makeRecords(api, { vmId, projectId: tenant.projectId });
  return {
    ...tenant,
    spareUserId: spare.id,
    spareUserEmail: spare.email,
    ids: {
      organization_id: tenant.organizationId,
      project_id: tenant.projectId,
      vm_id: vmId,
      ...told,
      disk_id: disk.operation.metadata.id,
      snapshot_id: snapshotOfDisk.id,
      backup_id: backupOfDisk.id,
      image_id: image.id,
      rule_id: rule.operation.metadata.id,
      network_id: network.id,
      subnet_id: subnet.id,
      access_key_id: accessKey.id,
      ssh_key_id: sshKey.id,
      user_ssh_key_id: ownKey.id,
      address_id: address.id,
      webhook_id: webhook.id,
      delivery_id: delivery.id,
      member_id: member.id,
      vm_operation_id: vm.operation.operation_id,
      disk_operation_id: disk.operation.operation_id,
      snapshot_operation_id: snapshotOfDisk.operationId,
      backup_operation_id: backupOfDisk.operationId,
      image_operation_id: image.operationId,
      rule_operation_id: rule.operation.operation_id,
    },
  };
}

/** Writes what hosts reported about the tenant's VM. */
async function makeRecords(
  { sql }: TestApi,
  { vmId, projectId }: { vmId: string; projectId: string },
): Promise<Record<string, string>> {
  const serialLog = `printed by ${vmId}`;
  await sql`insert into serial_logs (vm_id, tail) values (${vmId}, ${serialLog})`;
  await insertEvents(sql, [
    { projectId, resourceType: 'vm', resourceId: vmId, type: 'vm_crashed', message: 'crashed' },
  ]);
  const [event] = await sql`select id from events where resource_id = ${vmId}`;
  const receiptId = await recordReceipt(sql, { deviceId: newId(), projectId, vmId });
  return { event_id: event?.['id'], receipt_id: receiptId, serial_log: serialLog };
}

/** Returns all rows of a tenant as one text. If it is equal before and after, nothing changed. */
export async function snapshot(
  api: TestApi,
  { organizationId, projectId }: Estate,
): Promise<string> {
  const tables = [
    'vms',
    'disks',
    'snapshots',
    'backups',
    'images',
    'custom_images',
    'networks',
    'subnets',
    'firewall_rules',
    'access_keys',
    'ssh_keys',
    'reserved_addresses',
    'webhooks',
    'operations',
    'quotas',
    'events',
    'device_receipts',
  ];
  const parts: unknown[] = [];
  for (const table of tables) {
    const rows =
      await api.sql`select t::text from ${api.sql(table)} t where project_id = ${projectId} order by 1`;
    parts.push(table, rows);
  }
  parts.push(await api.sql`select o::text from organizations o where id = ${organizationId}`);
  parts.push(
    await api.sql`select p::text from projects p where organization_id = ${organizationId} order by 1`,
  );
  parts.push(
    await api.sql`select m::text from members m where organization_id = ${organizationId} order by 1`,
  );
  parts.push(
    await api.sql`select m::text from payment_methods m where organization_id = ${organizationId}`,
  );
  return JSON.stringify(parts);
}
