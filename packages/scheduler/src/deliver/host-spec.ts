import { GIB } from '@gantry/daemon/units';
import type {
  HostSpecRow,
  SpecDiskRow,
  SpecNetworkRow,
  SpecRuleRow,
  SpecVmRow,
} from '@gantry/db/queries/hosts/host-specs';
import { DEVICE_KINDS } from '@gantry/model/host-states';
import { sharesFor } from '@gantry/placement/shares-for';
import type { DeviceRef } from '@gantry/proto/generated/gantry/v1/DeviceRef';
import type { DiskSpec } from '@gantry/proto/generated/gantry/v1/DiskSpec';
import type { FirewallRule } from '@gantry/proto/generated/gantry/v1/FirewallRule';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { NetworkSpec } from '@gantry/proto/generated/gantry/v1/NetworkSpec';
import type { VmSpec } from '@gantry/proto/generated/gantry/v1/VmSpec';
import type { VmTakeDown } from '@gantry/proto/generated/gantry/v1/VmTakeDown';

const MIB_PER_GB = 1024;

/** Converts rows to a spec. Each VM of the host either should run or is to be taken down. */
export function toHostSpec(row: HostSpecRow): HostSpec {
  return {
    number: row.number,
    vms: row.vms.filter((vm) => vm.should_run).map(toVmSpec),
    takeDowns: row.vms.filter((vm) => !vm.should_run).map(toVmTakeDown),
    disks: row.disks.map(toDiskSpec),
    deletedDisks: row.deleted_disks,
    firewallRules: row.rules.map(toFirewallRule),
    networks: row.networks.map((network) => toNetworkSpec(network, row.host_id)),
  };
}

function toVmSpec(vm: SpecVmRow): VmSpec {
  const osDisk = vm.disks[0];
  return {
    id: vm.id,
    revision: vm.revision,
    generation: vm.generation,
    name: vm.name,
    cpuCores: vm.cpu_cores,
    memoryMib: vm.memory_gb * MIB_PER_GB,
    devices: deviceRefs(vm),
    disks: vm.disks.map((disk) => ({
      ...toDiskSpec(disk),
      readOnly: disk.mode === 'read-only',
      exists: disk.exists,
    })),
    interfaces: vm.interfaces.map((iface) => ({
      id: iface.id,
      networkId: iface.network_id,
      mac: iface.mac_address,
      privateIpv4: `${iface.private_address}/${iface.prefix_length}`,
      gatewayIpv4: iface.gateway,
      publicIpv4: iface.public_address ?? '',
    })),
    ...(osDisk?.exists ? {} : { image: vm.image }),
    sshPublicKey: vm.ssh_public_key,
    startupScript: vm.startup_script,
    shutdownScript: vm.shutdown_script,
    numaShares: numaShares(vm),
  };
}

/** The shares that placement used: both are derived from the GPUs. */
function numaShares(vm: SpecVmRow): NonNullable<VmSpec['numaShares']> {
  const gpus = vm.devices.filter(({ kind }) => kind === 'gpu');
  const shares = sharesFor(
    { gpus: gpus.map(({ id, numa_node }) => ({ id, numaNode: numa_node })) },
    gpus.map(({ id }) => id),
    { cores: vm.cpu_cores, memoryMib: vm.memory_gb * MIB_PER_GB, networkGbps: vm.network_gbps },
  );
  return shares.map(({ node, cores, memoryMib }) => ({ node, cpuCores: cores, memoryMib }));
}

/** By kind, GPUs first: the guest sees its devices in this order. */
function deviceRefs({ devices }: SpecVmRow): DeviceRef[] {
  return DEVICE_KINDS.flatMap((kind) => devices.filter((device) => device.kind === kind)).map(
    ({ kind, pci_address }) => ({ kind, address: pci_address }),
  );
}

/** A stop keeps all disks; a removal also removes the OS disk. */
function toVmTakeDown(vm: SpecVmRow): VmTakeDown {
  const isRemoved = vm.desired_state === 'deleted' || vm.abandoned;
  const osDisks = vm.disks.filter((disk) => disk.attachment_type === 'os');
  return {
    id: vm.id,
    revision: vm.revision,
    graceful: vm.desired_state === 'stopped' && !vm.abandoned,
    devices: deviceRefs(vm),
    disks: isRemoved ? osDisks.map(({ id }) => id) : [],
  };
}

function toDiskSpec(disk: SpecDiskRow): DiskSpec {
  return {
    id: disk.id,
    kind: disk.type === 'shared-volume' ? 'DISK_KIND_SHARED_VOLUME' : 'DISK_KIND_PERSISTENT_SSD',
    sizeBytes: disk.size_gib * GIB,
    blockSize: disk.block_size,
    serialNumber: disk.serial_number,
  };
}

function toFirewallRule(rule: SpecRuleRow): FirewallRule {
  const meaning = (cidrs: (string | null)[]) => cidrs.filter((cidr) => cidr !== null);
  return {
    id: rule.id,
    networkId: rule.network_id,
    direction: rule.direction === 'ingress' ? 'DIRECTION_INGRESS' : 'DIRECTION_EGRESS',
    action: rule.action === 'allow' ? 'ACTION_ALLOW' : 'ACTION_DENY',
    protocols: rule.protocols,
    sources: meaning(rule.sources),
    sourcePorts: rule.source_ports,
    destinations: meaning(rule.destinations),
    destinationPorts: rule.destination_ports,
  };
}

/** VMs on this host are not neighbours: they are reached without a tunnel. */
function toNetworkSpec(network: SpecNetworkRow, hostId: string): NetworkSpec {
  const elsewhere = network.members.filter(({ host_id }) => host_id !== hostId);
  return {
    id: network.id,
    vni: network.vni,
    subnets: network.subnets.map(({ cidr, gateway }) => ({ cidr, gatewayIpv4: gateway })),
    neighbours: elsewhere.map((member) => ({
      privateIpv4: member.address,
      mac: member.mac_address,
      hostIpv4: member.underlay_address,
    })),
  };
}
