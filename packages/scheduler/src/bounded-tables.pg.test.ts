import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { REMOVALS } from './clean-up.ts';

/**
 * Tables that the clean-up does not touch, and what keeps each of them from growing for ever. A table
 * that grows with use needs an entry in `REMOVALS` instead.
 */
const BOUNDED: Record<string, string> = {
  access_key_uses: 'one row per access key',
  access_keys: 'credentials that exist: tenants delete them, and a project removes its own',
  address_claims: 'one row per interface of a VM that exists',
  applied_sql: 'one row',
  availabilities: 'one row per location and type',
  closed_days: 'one row a day: proof of what invoices contain',
  closed_prices: 'one row a day and price: proof of what invoices contain',
  custom_images:
    'images of projects, up to the quota of each project, and deleted ones that VMs have',
  device_claims: 'one row per device',
  devices: 'devices of hosts that exist',
  discarded_volumes: 'volumes without a disk: removed when the cluster has removed the volume',
  disk_attachments: 'disks of VMs that exist',
  disk_limits: 'one row per type of disk',
  disks: 'disks that exist: the scheduler removes the row when the host has no trace of the disk',
  era_differences: 'removed after 30 days when an era begins; only eras add rows',
  firewall_rule_hosts: 'hosts that have not confirmed a rule yet',
  firewall_rules: 'rules that exist, up to the quota of each project',
  fleet_authorities: 'one row per rotation, which is a command of operators',
  free_vnis: 'at most one row per VXLAN number',
  host_revisions: 'one row per host',
  hosts: 'hosts that exist: operators remove them',
  image_locations: 'one row per image and location',
  images: 'the catalogue of operators',
  installation: 'one row',
  late_usage: 'every run of close-usage consumes all rows',
  leases: 'one row per location',
  locations: 'the catalogue of operators',
  members: 'one row per user and project',
  network_interfaces: 'interfaces of VMs that exist',
  networks: 'networks that exist, up to the quota of each project',
  organization_quotas: 'one row per organization and type',
  organizations: 'tenants that exist',
  orphan_interfaces: 'interfaces of orphans',
  orphans: 'VMs that hosts have: removed when an operator has decided',
  payment_methods: 'one row per organization',
  payment_problems: 'at most two rows per organization',
  placements: 'one row per placed VM',
  pool_images: 'one row per pool and image',
  prices: 'one row per type',
  projects: 'tenants that exist',
  public_addresses: 'the pools of operators',
  quotas: 'one row per project and type',
  reserved_addresses: 'addresses that are reserved, up to the quota of each project',
  rollout_hosts: 'removed with their rollout or their host',
  schedulers: 'a scheduler that is dead is removed by the others',
  serial_logs: 'one row of limited size per VM that exists',
  signing_keys: 'one row per GANTRY_SIGNING_KEY_DAYS',
  snapshots: 'snapshots that exist, up to the quota of each project',
  backups: 'backups that exist, up to the quota of each project',
  backup_schedules: 'at most one per disk',
  ssh_keys: 'at most 100 rows per project',
  storage_clusters: 'clusters of operators',
  storage_fences: 'one row per fenced host and cluster: removed when the fence is lifted',
  storage_pools: 'pools of operators',
  stray_hosts: 'removed after 30 days when an era begins; one row per host that was enrolled once',
  subnets: 'subnets that exist, up to the quota of each project',
  suspensions: 'one row per organization',
  usage_adjustments: 'on invoices: one row per correction of a day',
  usage_days: 'on invoices: one row a day per project and type, however many VMs there were',
  user_ssh_keys: 'at most 100 rows per user',
  user_totps: 'one row per user',
  users: 'users that exist',
  vm_type_locations: 'one row per type and location',
  vm_types: 'the catalogue of operators',
  vms: 'VMs that exist: the scheduler removes the row when the host has no trace of the VM',
  vni_pool: 'one row',
  volume_passphrases: 'one row per volume: destroyed with the volume and its last backup',
  volume_keys: 'at most two rows per volume and host: removed when the cluster has removed the key',
  webhook_queues: 'one row per webhook',
  webhooks: 'at most 10 rows per project, and 10 of operators',
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('every table is either cleaned up or bounded for a reason that is written here', async () => {
  const tables = await database.sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  expect([...Object.keys(BOUNDED), ...Object.keys(REMOVALS)].sort()).toEqual(
    tables.map(({ name }) => name),
  );
});
