import type { Device, Domain, Volume } from '@gantry/agent/host-driver';
import type { FirewallRule, InterfaceSpec } from '@gantry/agent/spec';
import type { SimulatedHost } from './simulated-host.ts';

/**
 * Everything that is on a simulated host at one moment, read without its agent. Plain data, so that
 * the control socket can send it.
 */
export type HostSight = {
  hostId: string;
  domains: SeenDomain[];
  devices: Device[];
  interfaces: { vmId: string; iface: InterfaceSpec }[];
  /** The VMs that have a seed. */
  seeds: string[];
  /** All disks that the host reaches. Hosts with shared storage have the same. */
  disks: Volume[];
  rules: FirewallRule[];
};
export type SeenDomain = Domain & { starts: number; resets: number };

export function lookAtHost({ id, driver }: SimulatedHost): HostSight {
  const { hypervisor, devices, network, seeds, disks } = driver;
  return {
    hostId: id,
    domains: hypervisor.look().map((domain) => {
      const { starts = 0, resets = 0 } = hypervisor.domain(domain.vmId) ?? {};
      return { ...domain, starts, resets };
    }),
    devices: devices.look(),
    interfaces: network
      .vmIds()
      .flatMap((vmId) => network.interfacesOf(vmId).map((iface) => ({ vmId, iface }))),
    seeds: seeds.vmIds(),
    disks: disks.ids().map((diskId) => ({ id: diskId, sizeBytes: disks.sizeBytes(diskId) ?? '0' })),
    rules: [...(network.firewall?.rules ?? [])],
  };
}
