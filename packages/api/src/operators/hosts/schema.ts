import { HOST_ADMIN_STATES, HOST_STATES } from '@gantry/model/host-states';
import { DISK_TYPES } from '@gantry/model/states';
import { VM_STATES } from '@gantry/model/vm-life/states';
import { z } from '@hono/zod-openapi';
import {
  Id,
  NamedListQuery,
  Page,
  ReplyId,
  Text,
  Timestamp,
  TimestampOrEmpty,
} from '../../http/fields.ts';
import { Tags } from '../../http/tags.ts';
import { HostDevices } from '../devices/device-lists.ts';

const HostNumaNode = z
  .object({
    node: z.int(),
    cores: z.int(),
    memory_mib: z.int(),
    network_gbps: z.number(),
  })
  .openapi('HostNumaNode', {
    description: 'Everything that the NUMA node has for VMs, whether it is in use or not.',
  });

const UnresponsiveVm = z
  .object({
    vm_id: z.string(),
    message: z.string().openapi({ description: 'What did not reply.' }),
    since: TimestampOrEmpty.openapi({
      description: 'By the clock of the host; empty if it did not say.',
    }),
  })
  .openapi('UnresponsiveVm');

const StoragePool = z
  .object({
    name: z.string().openapi({ description: 'A directory, a volume group or a thin pool.' }),
    disk_types: z.array(z.enum(DISK_TYPES)),
    size_gib: z.int(),
    free_gib: z.int(),
    offered_gib: z.int().openapi({ description: 'How large all disks in it may be together.' }),
  })
  .openapi('HostStoragePool', { description: 'As last reported.' });

const Host = z
  .object({
    id: ReplyId,
    name: z.string(),
    location: z.string(),
    state: z.enum(HOST_STATES).openapi({ description: 'The observed state of the host.' }),
    admin_state: z
      .enum(HOST_ADMIN_STATES)
      .openapi({ description: 'The state that operators want.' }),
    connected: z
      .boolean()
      .openapi({ description: 'Whether the agent of the host is connected now.' }),
    last_seen_at: TimestampOrEmpty.openapi({
      description: 'When the agent was last connected; empty if it never was.',
    }),
    fenced_at: TimestampOrEmpty.openapi({
      description: 'When an operator declared the host dead; empty if none did.',
    }),
    storage_address: z.string().openapi({
      description:
        'The address from which the host reaches storage clusters; empty if it has none.',
    }),
    storage_fences: z.array(z.string()).openapi({
      description: 'The storage clusters that refuse every request of this fenced host.',
    }),
    storage_fence_problem: z.string().openapi({
      description:
        'Why the fence waits for a storage cluster; empty if it does not. The VMs keep their place meanwhile.',
    }),
    created_at: Timestamp,
    agent_version: z.string().openapi({ description: 'Empty before the first report.' }),
    agent_capabilities: z.array(z.string()).openapi({
      description:
        'What the agent can do beyond its first version. A VM that needs more is refused by it.',
    }),
    software: z
      .object({
        os: z.string(),
        kernel: z.string(),
        firmware: z.string(),
        libvirt: z.string(),
        command_line: z.string(),
        iommu: z.string(),
      })
      .openapi({ description: 'The versions in the last report; empty if unknown.' }),
    drift: z.array(z.string()).openapi({
      description:
        'How the host differs from what an operator accepted, one sentence each. No new VM is ' +
        'placed on the host until it is as before, or is accepted again.',
    }),
    labels: Tags.openapi({
      description: 'Labels of operators. The label "rack" says where the host is on the fleet map.',
    }),
    shared_storage: z.boolean().openapi({
      description: 'Whether every host in the location can reach the disks of this host.',
    }),
    enforces_bandwidth: z.boolean().openapi({
      description:
        'Whether VMs are placed here only while its links have the bandwidth of their types.',
    }),
    lacks_nesting: z.boolean().openapi({
      description:
        'Whether its guests cannot run VMs themselves. VMs of types with nested virtualization are then not ' +
        'placed here. False also if its agent does not report it.',
    }),
    wanted_number: z
      .int()
      .openapi({ description: 'The number of the current desired state of the host.' }),
    accepted_number: z.int().openapi({
      description: 'The number of the last desired state that the agent accepted; 0 if none.',
    }),
    refusal: z.string().openapi({
      description: 'Why the agent refused the desired state; empty if it did not.',
    }),
    trouble: z.string().openapi({
      description:
        'Why no new VM is placed on the host although it is connected; empty if there is no reason.',
    }),
    unknown_vms: z.array(z.string()).openapi({
      description: 'VMs on the host that Gantry did not create there. They are left alone.',
    }),
    unresponsive_vms: z.array(UnresponsiveVm).openapi({
      description:
        'VMs whose hypervisor does not reply about them. Nothing is done to them meanwhile.',
    }),
    storage_pools: z.array(StoragePool).openapi({
      description: 'Where the host stores disks; empty if its agent does not report it.',
    }),
    disks_gib: z.int().openapi({
      description: 'How large all its disks are together, shared volumes excepted.',
    }),
    numa_nodes: z.array(HostNumaNode),
    ...HostDevices,
    vm_count: z.int(),
  })
  .openapi('Host');

export const HostPage = Page(Host);

const HostCertificate = z
  .object({
    serial: z.string().openapi({ description: 'The serial number in lower-case hex.' }),
    not_after: Timestamp,
    created_at: Timestamp,
    revoked_at: TimestampOrEmpty,
  })
  .openapi('HostCertificate');

const PlacedVm = z
  .object({
    id: ReplyId,
    project_id: ReplyId,
    name: z.string(),
    state: z.enum(VM_STATES),
  })
  .openapi('PlacedVm');

export const HostDetails = Host.extend({
  certificates: z.array(HostCertificate).openapi({ description: 'Oldest first.' }),
  vms: z
    .array(PlacedVm)
    .openapi({ description: 'The VMs that are placed on the host, oldest first.' }),
}).openapi('HostDetails');

export const DrainingHost = HostDetails.extend({
  remaining_vms: z.array(PlacedVm),
}).openapi('DrainingHost');

export const HostQuery = z.strictObject({
  ...NamedListQuery,
  location: Text(63).optional(),
  state: z.enum(HOST_STATES).optional(),
  admin_state: z.enum(HOST_ADMIN_STATES).optional(),
});

export const HostParams = z.object({ host_id: Id });

export const ChangeHost = z
  .strictObject({ labels: Tags.openapi({ description: 'Replaces all labels of the host.' }) })
  .openapi('ChangeHost');

export const FenceHost = z
  .strictObject({
    confirm: Text(255).openapi({ description: 'The name of the host.' }),
  })
  .openapi('FenceHost');
