import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import type { Estate } from './estate.ts';

/**
 * A request for every route that succeeds, or at least passes the check of access rights, if the
 * owner or an operator sends it. The test of access rights fails if a route has no entry.
 */
export type Example = { params?: Record<string, string>; body?: unknown };

const vm = (name: string) => ({
  ...{
    name,
    type: 'a40.1x',
    location: 'eu-north-a',
    image: 'debian-12',
    ssh_public_key: SSH_PUBLIC_KEY,
  },
});
let serial = 0;
const fresh = (prefix: string) => {
  serial += 1;
  return `${prefix}-${serial}`;
};
const nothing = () => ({});

export const EXAMPLES: Record<string, (estate: Estate) => Example> = {
  'root.get': nothing,
  'tokens.grant': () => ({ body: { grant_type: 'refresh_token', refresh_token: 'x' } }),
  'account.change-password': () => ({
    body: { current_password: 'not the password', new_password: 'correct horse battery' },
  }),
  'account.log-out': nothing,
  'account.get-totp': nothing,
  'account.start-totp': () => ({ body: { password: 'not the password' } }),
  'account.confirm-totp': () => ({ body: { totp: '000000' } }),
  'account.remove-totp': () => ({ body: { password: 'not the password', totp: '000000' } }),
  'invitations.accept': () => ({ body: { token: 'x', password: 'correct horse battery' } }),
  'billing.get': nothing,
  'standing.get': nothing,
  'usage.list': nothing,
  'prices.list': nothing,
  'organizations.list': nothing,
  'organizations.create': () => ({ body: { name: fresh('organization') } }),
  'organizations.change': () => ({ body: { name: fresh('organization') } }),
  'organizations.delete': nothing,
  'members.list': nothing,
  'members.create': ({ spareUserEmail, projectId }) => ({
    body: { email: spareUserEmail, role: 'read-only', project_id: projectId },
  }),
  'members.delete': nothing,
  'audit-logs.list': nothing,
  'admin-events.list': nothing,
  'projects.list': nothing,
  'projects.create': ({ organizationId }) => ({
    body: { name: fresh('project'), organization_id: organizationId },
  }),
  'projects.change': () => ({ body: { name: fresh('project') } }),
  'projects.delete': nothing,
  'access-keys.list': nothing,
  'access-keys.create': () => ({ body: { name: fresh('key') } }),
  'access-keys.delete': nothing,
  'quotas.list': nothing,
  'organization-quotas.list': nothing,
  'admin-locations.list': nothing,
  'admin-locations.create': () => {
    const zone = fresh('z');
    return { body: { name: `test-${zone}`, region: 'test', zone } };
  },
  'admin-locations.change': () => ({
    params: { location: 'eu-north-a' },
    body: { description: 'north' },
  }),
  'admin-vm-types.list': nothing,
  'admin-vm-types.create': () => ({
    body: {
      ...{
        name: fresh('type'),
        description: 'x',
        cpu_cores: 1,
        cpu_type: 'x',
        memory_gb: 1,
        memory_type: 'x',
      },
      ...{
        disk_gb: 0,
        disk_type: 'N/A',
        disk_count: 0,
        gpu_count: 1,
        gpu_type: 'X',
        network_gbps: 1,
        locations: [],
      },
    },
  }),
  'admin-vm-types.change': () => ({ params: { vm_type: 'a40.1x' }, body: { description: 'x' } }),
  'admin-images.list': nothing,
  'admin-images.create': () => ({ body: { name: fresh('image'), locations: [] } }),
  'admin-images.change': () => ({ params: { image_id: NOWHERE }, body: { description: 'x' } }),
  'admin-images.delete': () => ({ params: { image_id: NOWHERE } }),
  'admin-prices.list': nothing,
  'admin-prices.set': () => ({ params: { resource_type: 'a40.1x' }, body: { usd_per_hour: 1 } }),
  'admin-prices.delete': () => ({ params: { resource_type: 'a40.1x' } }),
  'admin-vms.list': nothing,
  'admin-vms.get': nothing,
  'admin-disks.list': nothing,
  'admin-disks.get': nothing,
  'admin-operations.list': nothing,
  'admin-operations.get': nothing,
  'admin-fleet.get': nothing,
  'admin-fleet.summary': nothing,
  'admin-fleet.history': nothing,
  'admin-hosts.list': nothing,
  'admin-hosts.get': nothing,
  'admin-hosts.change': () => ({ body: { labels: { rack: 'r1' } } }),
  'admin-hosts.cordon': nothing,
  'admin-hosts.uncordon': nothing,
  'admin-hosts.drain': nothing,
  'admin-hosts.accept': nothing,
  'admin-hosts.fence': () => ({ body: { confirm: 'x' } }),
  'admin-hosts.revoke-certificates': nothing,
  'admin-hosts.delete': nothing,
  'admin-devices.quarantine': () => ({ body: { reason: 'x' } }),
  'admin-devices.release': nothing,
  'admin-devices.receipts': nothing,
  'admin-orphans.list': nothing,
  'admin-orphans.give-back': nothing,
  'admin-orphans.delete': nothing,
  'admin-public-addresses.list': nothing,
  'admin-public-addresses.create': () => ({
    body: { location: 'eu-north-a', cidr: '203.0.113.0/29' },
  }),
  'admin-public-addresses.delete': nothing,
  'admin-placements.explain': () => ({ body: { type: 'a40.1x', location: 'eu-north-a' } }),
  'admin-join-tokens.list': nothing,
  'admin-join-tokens.create': () => ({ body: { location: 'eu-north-a' } }),
  'admin-join-tokens.delete': nothing,
  'admin-organizations.list': nothing,
  'admin-organizations.suspend': () => ({
    params: { organization_id: NOWHERE },
    body: { reason: 'x' },
  }),
  'admin-organizations.resume': () => ({ params: { organization_id: NOWHERE } }),
  'admin-projects.list': nothing,
  'admin-quotas.list': nothing,
  'admin-quotas.set': () => ({ body: { vms: 10 } }),
  'admin-organization-quotas.list': nothing,
  'admin-organization-quotas.set': () => ({ body: { vms: 20 } }),
  'admin-users.list': nothing,
  'admin-users.create': () => ({
    body: { email: `${fresh('user')}@example.com`, password: 'a long password' },
  }),
  'admin-users.change': ({ spareUserId }) => ({
    params: { user_id: spareUserId },
    body: { operator: false },
  }),
  'admin-users.log-out': ({ spareUserId }) => ({ params: { user_id: spareUserId } }),
  'admin-users.invite': ({ spareUserId }) => ({ params: { user_id: spareUserId }, body: {} }),
  'admin-users.remove-totp': ({ spareUserId }) => ({ params: { user_id: spareUserId } }),
  'admin-users.delete': () => ({ params: { user_id: NOWHERE } }),
  'admin-audit-logs.list': nothing,
  'admin-signing-keys.create': nothing,
  'admin-signing-keys.list': nothing,
  'admin-signing-keys.delete': () => ({ params: { signing_key_id: NOWHERE } }),
  'locations.list': nothing,
  'availabilities.list': nothing,
  'specs.list': nothing,
  'images.list': nothing,
  'vm-operations.list': nothing,
  'vm-operations.get': ({ ids }) => ({ params: { operation_id: ids['vm_operation_id'] ?? '' } }),
  'disk-operations.list': nothing,
  'disk-operations.get': ({ ids }) => ({
    params: { operation_id: ids['disk_operation_id'] ?? '' },
  }),
  'firewall-rule-operations.list': nothing,
  'firewall-rule-operations.get': ({ ids }) => ({
    params: { operation_id: ids['rule_operation_id'] ?? '' },
  }),
  'events.list': nothing,
  'device-receipts.list': nothing,
  'serial-logs.get': nothing,
  'consoles.open': nothing,
  'consoles.create-ticket': nothing,
  'vms.create': () => ({ body: vm(fresh('vm')) }),
  'vms.list': nothing,
  'vms.get': nothing,
  'vms.change': () => ({ body: { action: 'STOP' } }),
  'vms.delete': nothing,
  'vms.attach-disks': ({ ids }) => ({ body: { attach_disks: [{ disk_id: ids['disk_id'] }] } }),
  'vms.detach-disks': ({ ids }) => ({ body: { detach_disks: [ids['disk_id']] } }),
  'disks.create': () => ({ body: { name: fresh('disk'), size: '1GiB', location: 'eu-north-a' } }),
  'disks.list': nothing,
  'disks.get': nothing,
  'disks.change': () => ({ body: { size: '2GiB' } }),
  'disks.delete': nothing,
  'firewall-rules.create': ({ ids }) => ({
    body: {
      ...{
        name: fresh('rule'),
        vpc_network_id: ids['network_id'],
        action: 'deny',
        direction: 'ingress',
      },
      ...{ protocols: ['tcp'], sources: [{ resource_id: ids['vm_id'] }], destinations: [] },
    },
  }),
  'firewall-rules.list': nothing,
  'firewall-rules.get': nothing,
  'firewall-rules.change': () => ({ body: { name: fresh('rule') } }),
  'firewall-rules.delete': nothing,
  'firewall-rules.trace': ({ ids }) => ({
    body: { from: '192.0.2.1', to: ids['vm_id'], protocol: 'icmp' },
  }),
  'ssh-keys.create': () => ({ body: { name: fresh('ssh-key'), public_key: SSH_PUBLIC_KEY } }),
  'ssh-keys.list': nothing,
  'ssh-keys.get': nothing,
  'ssh-keys.delete': nothing,
  'networks.create': () => ({ body: { name: fresh('network'), cidr: '192.168.0.0/24' } }),
  'networks.list': nothing,
  'networks.get': nothing,
  'networks.delete': nothing,
  'subnets.create': ({ ids }) => ({
    body: {
      name: fresh('subnet'),
      cidr: '10.0.9.0/24',
      location: 'eu-north-a',
      vpc_network_id: ids['network_id'],
    },
  }),
  'subnets.list': nothing,
  'subnets.get': nothing,
  'subnets.delete': nothing,
};

/** A valid id of nothing. */
export const NOWHERE = '00000000-0000-7000-8000-000000000000';
