import type { Firewall, HostNetwork } from '../../host-driver.ts';

/** All an agent does for a host, as far as its network goes. */
export async function bringUp(network: HostNetwork, firewall: Firewall): Promise<void> {
  if (!(await network.isInForce(firewall))) await network.applyFirewall(firewall);
  for (const nic of firewall.nics) await network.ensureInterfaces(`vm-${nic.id}`, [nic]);
}
