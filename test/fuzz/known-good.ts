import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import fc from 'fast-check';

/**
 * Values that handlers accept, by the name of the member or parameter, so that requests get past the
 * schema and reach what lies behind. A name may be qualified with its schema's; `[]` stands for the
 * whole array, and a schema's name for the whole object. `{{own.vm_id}}` is filled in when the
 * request is sent: the ids change, the seed's requests do not.
 */
export const own = (name: string) => fc.constant(`{{own.${name}}}`);
const oneOf = (...values: string[]) => fc.constantFrom(...values);

const freshName = fc.stringMatching(/^n-[a-z0-9]{10}$/);
const name = fc.oneof({ weight: 8, arbitrary: freshName }, { weight: 1, arbitrary: own('name') });
const location = oneOf('eu-north-a', 'us-east-a');
const vmType = oneOf('a40.1x', 'a40.2x', 'a100.1x', 'l40s-48gb.1x');
const script = oneOf('#!/bin/sh\necho hello', '#!/usr/bin/env bash\n');
const ports = oneOf('22', '3000-8080', '*', '1', '65535', '1-65535');
const label = oneOf('A label', 'Ünïcödé 標籤', 'x', "O'Neill & <b>sons</b>", '\u{1f680}');
const octet = fc.integer({ min: 0, max: 255 });
const freshEmail = fc.stringMatching(/^u[a-z0-9]{10}$/).map((user) => `${user}@fuzz.test`);
const password = fc.stringMatching(/^[ -~]{12,30}$/);
const endpoint = fc.oneof(
  fc.record({ cidr: oneOf('', '10.0.0.0/8', '1.2.3.4', '0.0.0.0/0') }),
  fc.record({ resource_id: oneOf('', '{{own.vm_id}}', '{{own.subnet_id}}', '{{own.network_id}}') }),
);
const tracedEnd = oneOf('{{own.vm_id}}', '{{own.stopped_vm_id}}', '192.0.2.7', '172.27.0.9');

const newDisk = {
  ...{
    name,
    size: oneOf('1GiB', '100GiB', '2TiB'),
    location,
    block_size: fc.constantFrom(512, 4096),
  },
  tags: fc.constantFrom({}, { env: 'prod' }),
};

export const KNOWN_GOOD: Record<string, fc.Arbitrary<unknown>> = {
  name,
  type: vmType,
  location,
  image: oneOf('debian-12', 'ubuntu-24-04'),
  ssh_public_key: fc.constant(SSH_PUBLIC_KEY),
  public_key: fc.constant(SSH_PUBLIC_KEY),
  'ssh_keys[]': fc.constant([SSH_PUBLIC_KEY, `${SSH_PUBLIC_KEY} other`]),
  startup_script: script,
  user_data: fc.constantFrom('#cloud-config\n{}\n', '#!/bin/sh\n'),
  shutdown_script: script,
  size: oneOf('1GiB', '100GiB', '200GiB', '1TiB', '2TiB'),
  block_size: fc.constantFrom(512, 4096),
  source_ports: ports,
  destination_ports: ports,
  'CreateNetwork.cidr': fc.tuple(octet, octet).map(([a, b]) => `10.${a}.${b}.0/24`),
  'CreateSubnet.cidr': octet.map((third) => `10.77.${third}.0/24`),
  'AddPublicAddresses.cidr': fc
    .tuple(octet, octet, fc.integer({ min: 24, max: 32 }))
    .map(([second, third, prefix]) => `203.${second}.${third}.0/${prefix}`),
  // The host has the tenant's name.
  confirm: oneOf('{{own.name}}', '{{own.fenced_host_name}}'),
  host_id: oneOf('{{own.host_id}}', '{{own.host_id}}', '{{own.fenced_host_id}}'),
  'CreateSnapshot.disk_id': own('volume_disk_id'),
  'CreateBackup.disk_id': own('volume_disk_id'),
  CreateDisk: fc.oneof(
    fc.record(newDisk, { requiredKeys: ['name', 'size', 'location'] }),
    fc.record({ ...newDisk, type: oneOf('persistent-ssd', 'shared-volume') }),
    fc.record({ ...newDisk, snapshot_id: own('snapshot_id') }),
    fc.record({ ...newDisk, backup_id: own('backup_id') }),
  ),
  SetDiskLimits: fc.oneof(
    fc.record({ read_iops: octet, write_bytes_per_second: octet }),
    fc.record({ total_iops: fc.constant(500), burst_percent: fc.constantFrom(0, 101, 1000) }),
  ),
  image_id: oneOf('{{own.image_id}}', '{{own.project_image_id}}'),
  FirewallRuleEndpoint: endpoint,
  from: tracedEnd,
  to: tracedEnd,
  'protocols[]': fc.subarray(['tcp', 'udp', 'icmp'], { minLength: 1 }),
  NewVmDisk: fc.oneof(
    fc.record({ disk_id: own('disk_id'), mode: oneOf('read-write', 'read-only') }),
    fc.record({ name: freshName, size: oneOf('1GiB', '2TiB') }),
  ),
  'detach_disks[]': own('attached_disk_id').map((id) => [id]),
  'attach_disks[]': fc
    .record({ disk_id: own('disk_id'), mode: oneOf('read-write', 'read-only') })
    .map((attachment) => [attachment]),
  disk_id: oneOf('{{own.disk_id}}', '{{own.volume_disk_id}}'),
  vm_id: oneOf('{{own.vm_id}}', '{{own.stopped_vm_id}}', '{{own.addressed_vm_id}}'),
  'DetachPublicAddress.address_id': own('attached_address_id'),
  webhook_id: oneOf('{{own.webhook_id}}', '{{own.operators_webhook_id}}'),
  delivery_id: oneOf('{{own.delivery_id}}', '{{own.operators_delivery_id}}'),
  vpc_network_id: own('network_id'),
  operation_id: oneOf(
    '{{own.operation_id}}',
    '{{own.disk_operation_id}}',
    '{{own.rule_operation_id}}',
    '{{own.snapshot_operation_id}}',
    '{{own.backup_operation_id}}',
    '{{own.image_operation_id}}',
  ),
  email: fc.oneof(own('email'), freshEmail),
  'CreateMember.email': fc.oneof(own('spare_email'), own('spare_email'), own('email'), freshEmail),
  'CreateUser.email': freshEmail,
  password,
  current_password: own('password'),
  new_password: password,
  'StartTotp.password': own('password'),
  'TokenRequest.email': own('email'),
  'TokenRequest.password': own('password'),
  refresh_token: own('refresh_token'),
  expires_at: oneOf('2099-01-31T12:00:00Z', '2099-12-31T23:59:59.999Z'),
  'CreateLocation.name': oneOf('eu-west-b', 'eu-west-c', 'ap-south-b', 'ap-south-c'),
  'CreateLocation.region': oneOf('eu-west', 'ap-south'),
  'CreateLocation.zone': oneOf('b', 'c'),
  description: label,
  reason: label,
  'OrganizationName.name': label,
  'CreateProject.name': fc.oneof(freshName, label),
  'ChangeProject.name': fc.oneof(freshName, label),
  locations: location,
  tags: label,
  source_url: oneOf('https://images.test/a.qcow2', 'http://[::1]:8080/b?c=d'),
  sha256: fc.constant('0123456789abcdef'.repeat(4)),
  cpu_type: label,
  memory_type: label,
  disk_type: label,
  gpu_type: label,
  'GET.disk_type': fc.constant('persistent-ssd'),
  'PUT.disk_type': fc.constant('persistent-ssd'),
  'CreateVmType.name': fc.stringMatching(/^t[a-z0-9]{8}\.1x$/),
  usd_per_hour: fc.integer({ min: 0, max: 1e9 }).map((tenThousandths) => tenThousandths / 1e4),
  vm_type: vmType,
  resource_type: oneOf('a40.1x', 'persistent-ssd', 'shared-volume', 'snapshot', 'image'),
  'ExplainPlacement.host_id': own('host_id'),
  // For paths: resources that nothing depends on.
  'DELETE.organization_id': own('empty_organization_id'),
  'DELETE.project_id': own('empty_project_id'),
  'DELETE.network_id': own('empty_network_id'),
  'DELETE.host_id': own('empty_host_id'),
  'DELETE.storage_cluster_id': own('empty_storage_cluster_id'),
  url: oneOf('https://example.com/a?b=c', 'https://8.8.8.8:8443/'),
  'event_types[]': fc.subarray(['operation', 'vm', 'event']),
  since: oneOf('2026-01-31T12:00:00Z', '2000-01-01T00:00:00Z'),
  after_event_id: oneOf('0-0-0', '0-1-1'),
  // For queries:
  event_id: oneOf('0-1-1', 'test-x'),
  limit: oneOf('1', '2', '100', '1000'),
  page_token: own('vm_id'),
  resource_id: oneOf('{{own.vm_id}}', '{{own.disk_id}}', '{{own.rule_id}}'),
  ids: oneOf('{{own.vm_id}}', '{{own.vm_id}},{{own.disk_id}}', ','),
  names: oneOf('{{own.name}}', 'a,b,c'),
  types: oneOf('a40.1x', 'a40.1x,no-such-type'),
  tag: oneOf('env:test', 'team:a:b'),
  states: oneOf('STATE_RUNNING', 'STATE_RUNNING,STATE_SHUTOFF'),
  product_name: vmType,
  projects: oneOf('{{own.project_id}}', '{{own.project_id}},{{own.vm_id}}'),
  resource_types: oneOf('a40.1x', 'persistent-ssd'),
  regions: oneOf('eu-north', 'eu-north,us-east'),
  start_date: oneOf('2026-01-01', '2000-01-01', '2024-02-29'),
  end_date: oneOf('2026-01-31', '2099-12-31'),
  action: oneOf('vms.create', 'disks.delete'),
  region: oneOf('eu-north', 'us-east'),
};
