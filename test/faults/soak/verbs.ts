import { randomUUID } from 'node:crypto';
import type { Random } from './random.ts';
import type { Request } from './tenant-client.ts';

/** The kinds of resources, with the path of their list and how names begin that the workload gave. */
export const KINDS = {
  VM: { path: '/vms', prefix: 'v-' },
  disk: { path: '/disks', prefix: 'd-' },
  rule: { path: '/vpc/firewall-rules', prefix: 'r-' },
  network: { path: '/vpc/networks', prefix: 'n-' },
  subnet: { path: '/vpc/subnets', prefix: 's-' },
  key: { path: '/access-keys', prefix: 'k-' },
  'SSH-key': { path: '/ssh-keys', prefix: 'h-' },
  address: { path: '/vpc/public-addresses', prefix: 'a-' },
  webhook: { path: '/webhooks', prefix: 'w-' },
  snapshot: { path: '/snapshots', prefix: 'p-' },
  backup: { path: '/backups', prefix: 'b-' },
  image: { path: '/images', prefix: 'i-' },
} as const;
export type Kind = keyof typeof KINDS;

/** What the workload believes to exist. It may be wrong, as clients are: then the api refuses. */
export type Known = Record<Kind, string[]> & { defaultNetwork: string };

/**
 * Every write of a tenant, with how often it happens. A verb without a resource to act on does
 * nothing. `route` is the route as the api lists it.
 */
export type Verb = {
  /** What is done, and to which kind. */
  name: `${string} ${Kind}`;
  weight: number;
  route: string;
  request(known: Known, random: Random): Omit<Request, 'method'> | null;
};

/** There are never more than so many of a kind. */
const MOST = 12;
const SSH_PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx test@example';
/** Must not appear in any log. */
export const SECRET_SCRIPT = '#!/bin/sh\n# the-token-of-the-tenant-9f86d081';

const LOCATIONS = ['eu-north-a', 'eu-north-a', 'us-east-a'];
const VM = '/projects/{project_id}/vms/{vm_id}';
const DISK = '/projects/{project_id}/disks/{disk_id}';
const SNAPSHOT = '/projects/{project_id}/snapshots/{snapshot_id}';
const BACKUP = '/projects/{project_id}/backups/{backup_id}';
const IMAGE = '/projects/{project_id}/images/{image_id}';
const SSH_KEY = '/projects/{project_id}/ssh-keys/{ssh_key_id}';
const ACCESS_KEY = '/projects/{project_id}/access-keys/{access_key_id}';
const ADDRESS = '/projects/{project_id}/vpc/public-addresses/{address_id}';
const WEBHOOK = '/projects/{project_id}/webhooks/{webhook_id}';
const RULE = '/projects/{project_id}/vpc/firewall-rules/{rule_id}';

export const VERBS: readonly Verb[] = [
  {
    ...{ name: 'create VM', weight: 10, route: 'post /projects/{project_id}/vms' },
    request: ({ VM: vms }, random) =>
      vms.length >= MOST
        ? null
        : {
            path: '/vms',
            body: {
              ...{ name: freshName('v'), type: random.pick(['a40.1x', 'a40.1x', 'a40.2x']) },
              ...{ location: random.pick(LOCATIONS), image: 'debian-12' },
              ...{ ssh_public_key: SSH_PUBLIC_KEY, startup_script: SECRET_SCRIPT },
            },
          },
  },
  power('START', 5),
  power('STOP', 5),
  power('RESET', 4),
  {
    ...{ name: 'rename VM', weight: 2, route: `patch ${VM}` },
    request: ({ VM: vms }, random) =>
      on(random.pick(vms), (id) => ({
        ...{ path: `/vms/${id}`, body: { action: 'UPDATE', name: freshName('v') } },
      })),
  },
  {
    ...{ name: 'delete VM', weight: 5, route: `delete ${VM}` },
    request: ({ VM: vms }, random) => on(random.pick(vms), (id) => ({ path: `/vms/${id}` })),
  },
  {
    ...{ name: 'attach disk', weight: 4, route: `post ${VM}/attach-disks` },
    request: ({ VM: vms, disk: disks }, random) =>
      on(random.pick(vms), (vm) =>
        on(random.pick(disks), (disk_id) => {
          const mode = random.pick(['read-write', 'read-only']);
          return { path: `/vms/${vm}/attach-disks`, body: { attach_disks: [{ disk_id, mode }] } };
        }),
      ),
  },
  {
    ...{ name: 'detach disk', weight: 3, route: `post ${VM}/detach-disks` },
    request: ({ VM: vms, disk: disks }, random) =>
      on(random.pick(vms), (vm) =>
        on(random.pick(disks), (disk) => ({
          ...{ path: `/vms/${vm}/detach-disks`, body: { detach_disks: [disk] } },
        })),
      ),
  },
  {
    ...{ name: 'create disk', weight: 6, route: 'post /projects/{project_id}/disks' },
    request: ({ disk: disks }, random) => {
      if (disks.length >= MOST) return null;
      const type = random.pick(['persistent-ssd', 'persistent-ssd', 'shared-volume']);
      const location = random.pick(LOCATIONS);
      return { path: '/disks', body: { name: freshName('d'), size: '10GiB', type, location } };
    },
  },
  {
    // Disks of hosts have none, so it is refused unless the location has network storage.
    ...{ name: 'create snapshot', weight: 1, route: 'post /projects/{project_id}/snapshots' },
    request: ({ disk: disks }, random) =>
      on(random.pick(disks), (disk_id) => ({
        ...{ path: '/snapshots', body: { name: freshName('p'), disk_id } },
      })),
  },
  {
    ...{ name: 'rename snapshot', weight: 1, route: `patch ${SNAPSHOT}` },
    request: ({ snapshot: snapshots }, random) =>
      on(random.pick(snapshots), (id) => ({
        ...{ path: `/snapshots/${id}`, body: { name: freshName('p') } },
      })),
  },
  {
    ...{ name: 'restore snapshot', weight: 1, route: `post ${SNAPSHOT}:restore` },
    request: ({ snapshot: snapshots }, random) =>
      on(random.pick(snapshots), (id) => ({ path: `/snapshots/${id}:restore` })),
  },
  {
    ...{ name: 'delete snapshot', weight: 1, route: `delete ${SNAPSHOT}` },
    request: ({ snapshot: snapshots }, random) =>
      on(random.pick(snapshots), (id) => ({ path: `/snapshots/${id}` })),
  },
  {
    // Disks of hosts have none, so it is refused unless the location has network storage.
    ...{ name: 'create backup', weight: 1, route: 'post /projects/{project_id}/backups' },
    request: ({ disk: disks }, random) =>
      on(random.pick(disks), (disk_id) => ({
        ...{ path: '/backups', body: { name: freshName('b'), disk_id } },
      })),
  },
  {
    ...{ name: 'rename backup', weight: 1, route: `patch ${BACKUP}` },
    request: ({ backup: backups }, random) =>
      on(random.pick(backups), (id) => ({
        ...{ path: `/backups/${id}`, body: { name: freshName('b') } },
      })),
  },
  {
    ...{ name: 'delete backup', weight: 1, route: `delete ${BACKUP}` },
    request: ({ backup: backups }, random) =>
      on(random.pick(backups), (id) => ({ path: `/backups/${id}` })),
  },
  {
    ...{ name: 'schedule backups of disk', weight: 1, route: `put ${DISK}/backup-schedule` },
    request: ({ disk: disks }, random) =>
      on(random.pick(disks), (id) => ({
        ...{ path: `/disks/${id}/backup-schedule`, body: { every_hours: 24, keep: 7 } },
      })),
  },
  {
    ...{ name: 'unschedule backups of disk', weight: 1, route: `delete ${DISK}/backup-schedule` },
    request: ({ disk: disks }, random) =>
      on(random.pick(disks), (id) => ({ path: `/disks/${id}/backup-schedule` })),
  },
  {
    ...{ name: 'create image', weight: 1, route: 'post /projects/{project_id}/images' },
    request: ({ snapshot: snapshots }, random) =>
      on(random.pick(snapshots), (snapshot_id) => ({
        ...{ path: '/images', body: { name: freshName('i'), snapshot_id } },
      })),
  },
  {
    ...{ name: 'share image', weight: 1, route: `patch ${IMAGE}` },
    request: ({ image: images }, random) =>
      on(random.pick(images), (id) => ({
        ...{ path: `/images/${id}`, body: { visibility: 'organization' } },
      })),
  },
  {
    // Without a directory for uploads they are refused.
    ...{ name: 'upload image', weight: 1, route: `post ${IMAGE}/upload` },
    request: ({ image: images }, random) =>
      on(random.pick(images), (id) => ({
        ...{ path: `/images/${id}/upload`, body: { offset: 0, data: 'eA==' } },
      })),
  },
  {
    ...{ name: 'finish image', weight: 1, route: `post ${IMAGE}:finish-upload` },
    request: ({ image: images }, random) =>
      on(random.pick(images), (id) => ({ path: `/images/${id}:finish-upload` })),
  },
  {
    ...{ name: 'delete image', weight: 1, route: `delete ${IMAGE}` },
    request: ({ image: images }, random) =>
      on(random.pick(images), (id) => ({ path: `/images/${id}` })),
  },
  {
    ...{ name: 'grow disk', weight: 2, route: `patch ${DISK}` },
    request: ({ disk: disks }, random) =>
      on(random.pick(disks), (id) => ({
        ...{ path: `/disks/${id}`, body: { size: `${random.between(11, 40)}GiB` } },
      })),
  },
  {
    ...{ name: 'delete disk', weight: 4, route: `delete ${DISK}` },
    request: ({ disk: disks }, random) =>
      on(random.pick(disks), (id) => ({ path: `/disks/${id}` })),
  },
  {
    ...{ name: 'create rule', weight: 3, route: 'post /projects/{project_id}/vpc/firewall-rules' },
    request: ({ defaultNetwork, rule: rules }, random) =>
      rules.length >= MOST
        ? null
        : {
            path: '/vpc/firewall-rules',
            body: {
              ...{ name: freshName('r'), vpc_network_id: defaultNetwork, direction: 'ingress' },
              ...{ action: 'allow', protocols: ['tcp'], destination_ports: ['443'] },
              ...{ sources: random.below(2) ? [] : [{ cidr: '10.0.0.0/8' }], destinations: [{}] },
            },
          },
  },
  {
    ...{ name: 'change rule', weight: 3, route: `patch ${RULE}` },
    request: ({ rule: rules }, random) =>
      on(random.pick(rules), (id) => ({
        path: `/vpc/firewall-rules/${id}`,
        body: { destination_ports: [`${random.between(1_000, 9_000)}`] },
      })),
  },
  {
    ...{ name: 'delete rule', weight: 2, route: `delete ${RULE}` },
    request: ({ rule: rules }, random) =>
      on(random.pick(rules), (id) => ({ path: `/vpc/firewall-rules/${id}` })),
  },
  {
    ...{ name: 'create network', weight: 1, route: 'post /projects/{project_id}/vpc/networks' },
    request: ({ network: networks }, random) =>
      networks.length >= MOST
        ? null
        : {
            path: '/vpc/networks',
            body: { name: freshName('n'), cidr: `10.${random.between(100, 250)}.0.0/16` },
          },
  },
  rename('network', '/projects/{project_id}/vpc/networks/{network_id}'),
  remove('network', '/projects/{project_id}/vpc/networks/{network_id}'),
  {
    ...{ name: 'create subnet', weight: 1, route: 'post /projects/{project_id}/vpc/subnets' },
    request: ({ defaultNetwork, subnet: subnets }, random) =>
      subnets.length >= MOST
        ? null
        : {
            path: '/vpc/subnets',
            body: {
              ...{ name: freshName('s'), vpc_network_id: defaultNetwork },
              ...{ location: random.pick(LOCATIONS), cidr: `10.0.${random.between(64, 250)}.0/24` },
            },
          },
  },
  rename('subnet', '/projects/{project_id}/vpc/subnets/{subnet_id}'),
  remove('subnet', '/projects/{project_id}/vpc/subnets/{subnet_id}'),
  {
    ...{ name: 'create key', weight: 1, route: 'post /projects/{project_id}/access-keys' },
    request: ({ key: keys }) =>
      keys.length >= MOST ? null : { path: '/access-keys', body: { name: freshName('k') } },
  },
  {
    ...{ name: 'tag key', weight: 1, route: `patch ${ACCESS_KEY}` },
    request: ({ key: keys }, random) =>
      on(random.pick(keys), (id) => ({
        ...{ path: `/access-keys/${id}`, body: { tags: { seen: freshName('k') } } },
      })),
  },
  remove('key', ACCESS_KEY),
  {
    ...{ name: 'create SSH-key', weight: 1, route: 'post /projects/{project_id}/ssh-keys' },
    request: ({ 'SSH-key': keys }) =>
      keys.length >= MOST
        ? null
        : { path: '/ssh-keys', body: { name: freshName('h'), public_key: SSH_PUBLIC_KEY } },
  },
  {
    ...{ name: 'tag SSH-key', weight: 1, route: `patch ${SSH_KEY}` },
    request: ({ 'SSH-key': keys }, random) =>
      on(random.pick(keys), (id) => ({
        ...{ path: `/ssh-keys/${id}`, body: { tags: { seen: freshName('h') } } },
      })),
  },
  remove('SSH-key', SSH_KEY),
  {
    ...{
      name: 'create address',
      weight: 2,
      route: `post /projects/{project_id}/vpc/public-addresses`,
    },
    request: ({ address: addresses }, random) =>
      addresses.length >= MOST
        ? null
        : {
            path: '/vpc/public-addresses',
            body: { name: freshName('a'), location: random.pick(LOCATIONS) },
          },
  },
  useAddress('attach'),
  useAddress('detach'),
  rename('address', ADDRESS),
  remove('address', ADDRESS),
  {
    ...{ name: 'create webhook', weight: 1, route: 'post /projects/{project_id}/webhooks' },
    request: ({ webhook: webhooks }) =>
      webhooks.length >= MOST ? null : { path: '/webhooks', body: newWebhook() },
  },
  rename('webhook', WEBHOOK),
  remove('webhook', WEBHOOK),
  actOnWebhook('rotate-secret'),
  actOnWebhook('test'),
  actOnWebhook('enable'),
  actOnWebhook('replay', () => ({ since: new Date(Date.now() - 60_000).toISOString() })),
];

/** The name cannot be resolved, so nothing leaves the machine. */
const newWebhook = () => ({ name: freshName('w'), url: 'https://webhooks.invalid/' });

function actOnWebhook(verb: string, body?: () => object): Verb {
  return {
    ...{ name: `${verb} webhook` as const, weight: 1, route: `post ${WEBHOOK}:${verb}` },
    request: ({ webhook: webhooks }, random) =>
      on(random.pick(webhooks), (id) => ({
        ...{ path: `/webhooks/${id}:${verb}`, ...(body && { body: body() }) },
      })),
  };
}

/** The operation is one of the VM. */
function useAddress(verb: 'attach' | 'detach'): Verb {
  return {
    ...{ name: `${verb} address` as const, weight: 2, route: `post ${VM}/${verb}-public-address` },
    request: ({ VM: vms, address: addresses }, random) =>
      on(random.pick(vms), (vm) =>
        on(random.pick(addresses), (address_id) => ({
          ...{ path: `/vms/${vm}/${verb}-public-address`, body: { address_id } },
        })),
      ),
  };
}

function rename(kind: Kind, route: string): Verb {
  return {
    ...{ name: `rename ${kind}` as const, weight: 1, route: `patch ${route}` },
    request: (known, random) =>
      on(random.pick(known[kind]), (id) => ({
        path: `${KINDS[kind].path}/${id}`,
        body: { name: freshName(KINDS[kind].prefix.slice(0, 1)) },
      })),
  };
}

function remove(kind: Kind, route: string): Verb {
  return {
    ...{ name: `delete ${kind}` as const, weight: 1, route: `delete ${route}` },
    request: (known, random) =>
      on(random.pick(known[kind]), (id) => ({ path: `${KINDS[kind].path}/${id}` })),
  };
}

/** A verb that finds nothing to act on does nothing, so a client looks for one that does. */
function on<T, R>(item: T | undefined, make: (item: T) => R): R | null {
  return item === undefined ? null : make(item);
}

function power(action: string, weight: number): Verb {
  return {
    ...{ name: `${action} VM` as const, weight, route: `patch ${VM}` },
    request: ({ VM: vms }, random) =>
      on(random.pick(vms), (id) => ({ path: `/vms/${id}`, body: { action } })),
  };
}

function freshName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(-12)}`;
}

export function methodOf({ route }: Verb): string {
  return route.split(' ')[0]?.toUpperCase() ?? '';
}
