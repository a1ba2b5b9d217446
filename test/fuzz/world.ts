import { createHash } from 'node:crypto';
import { newKey } from '@gantry/api/auth/keys';
import { hashPassword } from '@gantry/api/auth/passwords';
import { insertJoinToken } from '@gantry/db/queries/hosts/join-tokens';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { insertRollout } from '@gantry/db/queries/rollouts/rollouts';
import { insertOwner } from '@gantry/db/queries/tenants/tenants';
import { insertRefreshToken } from '@gantry/db/queries/tenants/tokens';
import { newId } from '@gantry/model/ids';
import type { TestApi } from '@gantry/testkit/api/test-api';
import { addBackup } from '@gantry/testkit/make/backups';
import { finishDisk, finishRule, finishVm } from '@gantry/testkit/make/finished';
import { addHost, certifyHost } from '@gantry/testkit/make/hosts';
import { addProjectImage } from '@gantry/testkit/make/images';
import { placeVm } from '@gantry/testkit/make/placements';
import { recordReceipt } from '@gantry/testkit/make/receipts';
import { addSnapshot } from '@gantry/testkit/make/snapshots';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
} from '@gantry/testkit/make/tenants';
import type { Bearer, Plan } from './requests.ts';

/**
 * The fixtures that requests refer to: two tenants with one resource of each kind, and callers of
 * every kind.
 */
export type World = {
  own: Values;
  other: Values;
  bearers: Record<Bearer, string>;
  /** The users outside of the own tenant. Their tokens may end, and are issued again. */
  users: Partial<Record<Bearer, string>>;
};
/** By the name of the parameter that accepts it. */
export type Values = Record<string, string>;

const PASSWORD = 'correct horse battery';
/** Slow to compute on purpose, so it is computed once. */
const passwordHash = hashPassword(PASSWORD);

type Furnished = { tenant: TestTenant; values: Values };

export async function makeWorld(api: TestApi): Promise<World> {
  const [own, other, unpaid, operator, nobody] = await Promise.all([
    furnish(api),
    furnish(api),
    makeTenant(api, label('unpaid'), { paid: false }),
    makeUser(api, `${label('operator')}@fuzz.test`, { operator: true }),
    makeUser(api, `${label('nobody')}@fuzz.test`),
  ]);
  return {
    own: own.values,
    other: other.values,
    bearers: {
      ...bearersOf(own.tenant),
      operator: operator.token,
      nobody: nobody.token,
      unpaidOwner: unpaid.owner.token,
      otherOwner: other.tenant.owner.token,
      otherKey: other.tenant.accessKey,
      otherReadOnlyKey: other.tenant.readOnlyKey,
    },
    users: {
      ...{ operator: operator.id, nobody: nobody.id },
      ...{ unpaidOwner: unpaid.owner.id, otherOwner: other.tenant.owner.id },
    },
  };
}

/** Returns the same fixtures after restoring what a request may have used up or deleted. */
export async function renewWorld(api: TestApi, world: World): Promise<World> {
  await restoreCatalogue(api);
  const { tenant, values } = await furnish(api);
  const bearers = { ...world.bearers, ...bearersOf(tenant) };
  for (const [bearer, userId] of Object.entries(world.users)) {
    const [user] = await api.sql<{ generation: number }[]>`
      select token_generation::int as generation from users where id = ${userId}`;
    bearers[bearer as Bearer] = await api.deps.tokens.issue(userId, user?.generation);
  }
  return { ...world, own: values, bearers };
}

function bearersOf(tenant: TestTenant) {
  return {
    owner: tenant.owner.token,
    member: tenant.member.token,
    readOnly: tenant.readOnly.token,
    accessKey: tenant.accessKey,
    readOnlyKey: tenant.readOnlyKey,
  };
}

let labels = 0;
function label(kind: string): string {
  labels += 1;
  return `${kind}-${labels}-${newId().slice(-8)}`;
}

/** Requests of operators may have retired what the fixtures need, and used up what is limited. */
async function restoreCatalogue({ sql }: TestApi): Promise<void> {
  await sql`delete from webhooks where project_id is null`;
  await sql`update vm_types set retired = false where retired`;
  await sql`insert into vm_type_locations select t.name, l.name from vm_types t, locations l
    on conflict do nothing`;
}

/**
 * A tenant with one resource of each kind. All of them contain the tenant's name, which is unique.
 */
async function furnish(api: TestApi): Promise<Furnished> {
  const { sql } = api;
  const name = label('tenant');
  const tenant = await makeTenant(api, name);
  const { projectId, organizationId, owner } = tenant;
  const [[member], [signingKey], spare, login, image_id, resources, empty] = await Promise.all([
    sql<{ id: string }[]>`select id from members where user_id = ${tenant.member.id}`,
    sql<{ id: string }[]>`select id from signing_keys order by number desc limit 1`,
    makeUser(api, `spare@${name}.test`),
    makeLogin(api, owner.id),
    makeImage(api),
    makeResources(api, tenant, name),
    makeEmptyOnes(api, tenant, name),
    sql`update projects set name = ${name} where id = ${projectId}`,
    // An operator can forgive it. It suspends the organization only after a year.
    sql`insert into payment_problems (organization_id, kind, suspends_at)
      values (${organizationId}, 'payment_failed', now() + interval '1 year')`,
    sql`update users set password_hash = ${await passwordHash} where id = ${owner.id}`,
  ]);
  return {
    tenant,
    values: {
      ...{ name, project_id: projectId, organization_id: organizationId },
      ...{ email: owner.email, password: PASSWORD, member_id: member?.id ?? '' },
      ...{ user_id: spare.id, spare_email: spare.email, signing_key_id: signingKey?.id ?? '' },
      ...{ image_id, ...login, ...resources, ...empty },
    },
  };
}

async function makeResources(api: TestApi, tenant: TestTenant, name: string): Promise<Values> {
  const { sql } = api;
  const post = (path: string, body: object) => create(api, tenant, path, body);
  const placed = { location: 'eu-north-a' };
  const vm = async (vmName: string, state: 'running' | 'stopped') => {
    const made = await post('/vms', {
      ...{ ...placed, name: vmName, type: 'a40.1x', image: 'debian-12' },
      ssh_public_key: SSH_PUBLIC_KEY,
    });
    await finishVm(sql, made.id, state);
    return made;
  };
  const disk = async (diskName: string) => {
    const made = await post('/disks', { ...placed, name: diskName, size: '10GiB' });
    await finishDisk(sql, made.id);
    return made;
  };
  const [
    running,
    stopped,
    free,
    attached,
    { network, subnet, rule },
    key,
    sshKey,
    ownKey,
    address,
    webhook,
  ] = await Promise.all([
    vm(name, 'running'),
    vm(`${name}-stopped`, 'stopped'),
    disk(name),
    disk(`${name}-attached`),
    makeNetwork(api, tenant, name),
    post('/access-keys', { name }),
    post('/ssh-keys', { name, public_key: SSH_PUBLIC_KEY }),
    makeOwnSshKey(api, tenant, name),
    makeReservedAddress(api, tenant, name),
    makeWebhooks(api, tenant, name),
  ]);
  const kept = await addSnapshot(sql, { projectId: tenant.projectId, diskId: free.id, name });
  const backedUp = await addBackup(sql, { projectId: tenant.projectId, diskId: free.id, name });
  const image = await addProjectImage(sql, {
    ...{ projectId: tenant.projectId, name: `${name}-image` },
  });
  const volume = await disk(`${name}-volume`);
  await makeVolume(sql, volume.id);
  const addressed = await makeAddressedVm(api, tenant, `${name}-addressed`);
  const host = await makeHosts(api, running.id, name);
  const records = await makeRecords(api, {
    ...{ vmId: running.id, projectId: tenant.projectId, deviceId: host['device_id'] ?? '' },
  });
  await post(`/vms/${running.id}/attach-disks`, { attach_disks: [{ disk_id: attached.id }] });
  await finishVm(sql, running.id, 'running');
  return {
    ...{ vm_id: running.id, stopped_vm_id: stopped.id, operation_id: running.operationId },
    ...{ disk_id: free.id, attached_disk_id: attached.id, disk_operation_id: free.operationId },
    ...{ volume_disk_id: volume.id, snapshot_id: kept.id, snapshot_operation_id: kept.operationId },
    ...{ backup_id: backedUp.id, backup_operation_id: backedUp.operationId },
    ...{ project_image_id: image.id, image_operation_id: image.operationId },
    ...{ rule_id: rule.id, rule_operation_id: rule.operationId },
    ...{ network_id: network.id, subnet_id: subnet.id, access_key_id: key.id },
    ...{ ssh_key_id: sshKey.id, user_ssh_key_id: ownKey, address_id: address.id, ...webhook },
    ...addressed,
    ...{ ...host, ...records },
  };
}

async function makeOwnSshKey(api: TestApi, { owner }: TestTenant, name: string): Promise<string> {
  const body = { name, public_key: SSH_PUBLIC_KEY };
  return (await api.call('POST', '/auth/ssh-keys', { bearer: owner.token, body })).body.id;
}

async function makeWebhooks(api: TestApi, tenant: TestTenant, name: string): Promise<Values> {
  const makeOne = async (own: string) => {
    const body = { name: own, url: `https://${own}.test/` };
    const { id } = await create(api, tenant, '/webhooks', body);
    const delivery = await create(api, tenant, `/webhooks/${id}:test`, {});
    return [id, delivery.id] as const;
  };
  const [webhook_id, delivery_id] = await makeOne(name);
  const [operators_webhook_id, operators_delivery_id] = await makeOne(`${name}-operators`);
  await api.sql`update webhooks set project_id = null where id = ${operators_webhook_id}`;
  return { webhook_id, delivery_id, operators_webhook_id, operators_delivery_id };
}

let addresses = 0;

async function makeReservedAddress(api: TestApi, tenant: TestTenant, name: string) {
  addresses += 1;
  await api.sql`insert into public_addresses (id, location, address)
    values (${newId()}, 'eu-north-a', '198.18.0.0'::inet + ${addresses}::bigint)`;
  return await create(api, tenant, '/vpc/public-addresses', { name, location: 'eu-north-a' });
}

/** A stopped VM that a reserved address is attached to. */
async function makeAddressedVm(api: TestApi, tenant: TestTenant, name: string): Promise<Values> {
  const { id } = await makeReservedAddress(api, tenant, name);
  const vm = await create(api, tenant, '/vms', {
    ...{ name, location: 'eu-north-a', type: 'a40.1x', image: 'debian-12' },
    ...{ ssh_public_key: SSH_PUBLIC_KEY },
    network_interfaces: [{ public_ipv4: { type: 'reserved', id } }],
  });
  await finishVm(api.sql, vm.id, 'stopped');
  return { addressed_vm_id: vm.id, attached_address_id: id };
}

/** Stores a disk in a pool of its own, so that it can have snapshots, backups and a schedule for them. */
async function makeVolume(sql: TestApi['sql'], diskId: string): Promise<void> {
  const [clusterId, poolId] = [newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name)
    values (${clusterId}, ${diskId}, '{10.0.0.1:3300}', 'gantry')`;
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, active)
    values (${poolId}, ${clusterId}, 'volumes', 'us-east-a', 'shared-volume', false)`;
  await sql`update disks set pool_id = ${poolId}, volume_id = '1a', observed_size_gib = size_gib where id = ${diskId}`;
  await sql`insert into backup_schedules (disk_id, every_hours, keep, next_at) values (${diskId}, 24, 7, now())`;
}

/** Resources of operators: the host of the VM, a free host, and a token for another host. */
async function makeHosts({ sql }: TestApi, vmId: string, name: string): Promise<Values> {
  const host = await addHost(sql, { name, gpus: 1 });
  const empty = await addHost(sql, { name: `${name}-empty`, gpus: 0 });
  const fenced = await addHost(sql, { name: `${name}-fenced`, gpus: 0 });
  await sql`update hosts set state = 'fenced', fenced_at = now() where id = ${fenced.id}`;
  const { gpuIds, driveIds } = host;
  await placeVm(sql, { vmId, hostId: host.id, devices: [...gpuIds, ...driveIds] });
  await certifyHost(sql, host.id);
  // Both hosts have reported their inventory, so operators can accept it.
  await sql`update hosts set facts = '{}' where id in (${host.id}, ${empty.id})`;
  const publicAddressId = newId();
  addresses += 1;
  await sql`insert into public_addresses (id, location, address)
    values (${publicAddressId}, 'eu-north-a', '198.18.0.0'::inet + ${addresses}::bigint)`;
  const token = newId();
  await insertJoinToken(sql, {
    ...{ id: token, hash: token, location: 'eu-north-a', createdBy: newId() },
    ...{ created_at: new Date(), expires_at: new Date(Date.now() + 3_600_000) },
    rejoins_id: null,
  });
  const rolloutId = newId();
  await insertRollout(sql, {
    ...{ id: rolloutId, version: '0.0.1', labels: { world: name }, createdBy: newId() },
    ...{ canaryCount: 1, batchSize: 1, hostTimeLimitS: 60, maxFailures: 0, createdAt: new Date() },
  });
  const [clusterId, emptyClusterId, poolId] = [newId(), newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name)
    values (${clusterId}, ${name}, '{10.0.0.1:3300}', 'gantry'),
      (${emptyClusterId}, ${`${name}-empty`}, '{10.0.0.1:3300}', 'gantry')`;
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, active)
    values (${poolId}, ${clusterId}, 'volumes', 'us-east-a', 'shared-volume', false)`;
  const orphanId = newId();
  await sql`insert into orphans (id, host_id, vm_id, revision, generation, description)
    values (${orphanId}, ${empty.id}, ${newId()}, 1, 1, '{"disks": []}')`;
  return {
    ...{ host_id: host.id, empty_host_id: empty.id, join_token_id: token },
    ...{ device_id: gpuIds[0] ?? '', public_address_id: publicAddressId },
    ...{ orphan_id: orphanId, rollout_id: rolloutId },
    ...{ storage_cluster_id: clusterId, storage_pool_id: poolId },
    ...{ empty_storage_cluster_id: emptyClusterId },
    ...{ fenced_host_id: fenced.id, fenced_host_name: `${name}-fenced` },
  };
}

/** Writes what hosts reported about the VM. */
async function makeRecords(
  { sql }: TestApi,
  { vmId, projectId, deviceId }: { vmId: string; projectId: string; deviceId: string },
): Promise<Values> {
  const serialLog = `printed by ${vmId}`;
  const [receiptId] = await Promise.all([
    recordReceipt(sql, { deviceId, projectId, vmId }),
    sql`insert into serial_logs (vm_id, tail) values (${vmId}, ${serialLog})`,
    insertEvents(sql, [
      { projectId, resourceType: 'vm', resourceId: vmId, type: 'vm_crashed', message: 'crashed' },
    ]),
  ]);
  return { receipt_id: receiptId, serial_log: serialLog };
}

async function makeNetwork(api: TestApi, tenant: TestTenant, name: string) {
  const post = (path: string, body: object) => create(api, tenant, path, body);
  const network = await post('/vpc/networks', { name, cidr: '10.77.0.0/16' });
  const [subnet, rule] = await Promise.all([
    post('/vpc/subnets', {
      ...{ name, cidr: '10.77.0.0/24', location: 'eu-north-a', vpc_network_id: network.id },
    }),
    post('/vpc/firewall-rules', {
      ...{ name, vpc_network_id: network.id, action: 'allow', direction: 'ingress' },
      ...{ protocols: ['tcp'], sources: [{ cidr: '1.2.3.4/32' }], destinations: [] },
    }),
  ]);
  await finishRule(api.sql, rule.id);
  return { network, subnet, rule };
}

/** Creates it through the api, so that it looks as it does for a client. */
async function create(
  api: TestApi,
  tenant: TestTenant,
  path: string,
  body: object,
): Promise<{ id: string; operationId: string }> {
  const reply = await api.call('POST', `/projects/${tenant.projectId}${path}`, {
    ...{ bearer: tenant.owner.token, body },
  });
  const id: string | undefined = reply.body.operation?.metadata.id ?? reply.body.id;
  if (!id) throw new Error(`the fixtures need POST ${path}: ${JSON.stringify(reply.body)}`);
  return { id, operationId: reply.body.operation?.operation_id ?? '' };
}

async function makeLogin({ sql }: TestApi, userId: string): Promise<Values> {
  const token = newKey('refresh_token');
  const hash = createHash('sha256').update(token).digest('hex');
  const expiresAt = new Date(Date.now() + 86_400_000);
  const familyId = newId();
  const client = { sourceIp: '192.0.2.1', userAgent: 'fuzz' };
  await insertRefreshToken(sql, { hash, familyId, userId, expiresAt, ...client });
  return { refresh_token: token, login_id: familyId };
}

/** Resources that are empty, so that they can be deleted. */
async function makeEmptyOnes(
  { sql }: TestApi,
  { organizationId, projectId, owner }: TestTenant,
  name: string,
): Promise<Values> {
  const [organization, project, network] = [newId(), newId(), newId()];
  const empty = `${name}-empty`;
  await sql`insert into organizations (id, name) values (${organization}, ${empty})`;
  await Promise.all([
    insertOwner(sql, { id: newId(), organizationId: organization, userId: owner.id }),
    sql`insert into projects (id, name, organization_id)
      values (${project}, ${empty}, ${organizationId})`,
    sql`insert into networks (id, project_id, name, cidr)
      values (${network}, ${projectId}, ${empty}, '10.78.0.0/16')`,
  ]);
  return {
    empty_organization_id: organization,
    empty_project_id: project,
    empty_network_id: network,
  };
}

/** A device that no VM has, so that it can be removed. */
async function makeImage({ sql }: TestApi): Promise<string> {
  const id = newId();
  await sql`insert into images (id, name) values (${id}, ${label('image')})`;
  return id;
}

/** `{{own.vm_id}}` becomes the id; `{{OWN.vm_id}}` becomes the id in upper case. */
function fill(text: string, world: World): string {
  return text.replaceAll(/\{\{(own|other|OWN)\.(\w+)\}\}/g, (_, whose: string, name: string) => {
    if (whose === 'OWN') return (world.own[name] ?? name).toUpperCase();
    return world[whose as 'own' | 'other'][name] ?? name;
  });
}

export function fillPlan(plan: Plan, world: World): Plan {
  return {
    ...plan,
    path: fill(plan.path, world),
    query: fill(plan.query, world),
    headers: Object.fromEntries(
      Object.entries(plan.headers).map(([name, value]) => [name, fill(value, world)]),
    ),
    body: plan.body && { ...plan.body, text: fill(plan.body.text, world) },
  };
}
