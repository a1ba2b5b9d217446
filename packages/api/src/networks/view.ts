import type { NetworkRow, SubnetRow } from '@gantry/db/queries/networks/networks';
import { formatIpv4, parseCidr } from '@gantry/model/cidr';

export function networkView({ id, name, cidr, subnets, tags }: NetworkRow) {
  return { id, name, cidr, gateway: gatewayOf(cidr), subnets, tags };
}

export function subnetView({ id, name, cidr, location, vpc_network_id, tags }: SubnetRow) {
  return { id, name, cidr, location, vpc_network_id, tags };
}

/** The first usable address of a network. */
function gatewayOf(cidr: string): string {
  const block = parseCidr(cidr);
  if (!block) throw new Error(`BUG: the network has the cidr "${cidr}"`);
  return formatIpv4(block.first + 1);
}
