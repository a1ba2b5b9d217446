import type { Firewall, HostNetwork } from '../../host-driver.ts';

/** Everything that an agent does for a host's network. */
export async function bringUp(network: HostNetwork, firewall: Firewall): Promise<void> {
  if (!(await network.isInForce(firewall))) await network.applyFirewall(firewall);
  for (const iface of firewall.interfaces)
    await network.ensureInterfaces(`vm-${iface.id}`, [iface]);
}
