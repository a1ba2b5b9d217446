import type { Queryable } from '../../connect.ts';
import { type Listing, listed } from '../listing.ts';

export type NetworkRow = {
  id: string;
  name: string;
  cidr: string;
  is_default: boolean;
  subnets: string[];
  tags: Record<string, string>;
};
export type SubnetRow = {
  id: string;
  name: string;
  cidr: string;
  location: string;
  vpc_network_id: string;
  tags: Record<string, string>;
};

type NetworkKey = { projectId: string; networkId: string };
type SubnetKey = { projectId: string; subnetId: string };

const selectNetwork = (sql: Queryable) => sql`
  select n.id, n.name, n.cidr, n.is_default, n.tags,
    array(select s.id from subnets s where s.network_id = n.id order by s.id) as subnets
  from networks n`;

const selectSubnet = (sql: Queryable) =>
  sql`select id, name, cidr, location, network_id as vpc_network_id, tags from subnets`;

export async function listNetworks(sql: Queryable, listing: Listing): Promise<NetworkRow[]> {
  return await sql<NetworkRow[]>`${selectNetwork(sql)} where ${listed(sql, listing)}`;
}

export async function readNetwork(
  sql: Queryable,
  { projectId, networkId }: NetworkKey,
): Promise<NetworkRow | undefined> {
  const [row] = await sql<
    NetworkRow[]
  >`${selectNetwork(sql)} where n.project_id = ${projectId} and n.id = ${networkId}`;
  return row;
}

/** Serialises the creation of networks in the project. Other changes are not blocked. */
export async function lockNetworksOfProject(sql: Queryable, projectId: string): Promise<void> {
  await sql`select from projects where id = ${projectId} for no key update`;
}

/** Serialises the creation of subnets in the network, and its deletion. */
export async function lockSubnetsOfNetwork(
  sql: Queryable,
  { projectId, networkId }: NetworkKey,
): Promise<NetworkRow | undefined> {
  await sql`select from networks where project_id = ${projectId} and id = ${networkId} for no key update`;
  return await readNetwork(sql, { projectId, networkId });
}

/** Prevents new references to the network and its subnets until the transaction ends. */
export async function lockNetwork(
  sql: Queryable,
  { projectId, networkId }: NetworkKey,
): Promise<NetworkRow | undefined> {
  await sql`select from networks where project_id = ${projectId} and id = ${networkId} for update`;
  await sql`select from subnets where network_id = ${networkId} order by id for update`;
  return await readNetwork(sql, { projectId, networkId });
}

export async function findOverlappingNetwork(
  sql: Queryable,
  { projectId, cidr }: { projectId: string; cidr: string },
): Promise<{ name: string; cidr: string } | undefined> {
  const [row] = await sql<{ name: string; cidr: string }[]>`
    select name, cidr from networks where project_id = ${projectId} and cidr && ${cidr}::cidr order by id limit 1`;
  return row;
}

export async function insertNetwork(
  sql: Queryable,
  network: { id: string; projectId: string; name: string; cidr: string; at: Date },
): Promise<void> {
  await sql`insert into networks (id, project_id, name, cidr, created_at)
    values (${network.id}, ${network.projectId}, ${network.name}, ${network.cidr}, ${network.at})`;
}

/** Its subnets are removed too. */
export async function removeNetwork(sql: Queryable, networkId: string): Promise<void> {
  await sql`delete from networks where id = ${networkId}`;
}

export type NetworkUse = { vms: boolean; rules: boolean; endpoints: boolean };

/** Returns what refers to a network or subnet: VMs, its rules, and rules with it as an endpoint. */
export async function readNetworkUse(
  sql: Queryable,
  { projectId, ids }: { projectId: string; ids: string[] },
): Promise<NetworkUse> {
  const [row] = await sql<NetworkUse[]>`
    select exists (select from network_interfaces
        where network_id = any(${ids}::uuid[]) or subnet_id = any(${ids}::uuid[])) as vms,
      exists (select from firewall_rules where network_id = any(${ids}::uuid[])) as rules,
      exists (select from firewall_rules r, jsonb_array_elements(r.sources || r.destinations) endpoint
        where r.project_id = ${projectId} and endpoint ->> 'resource_id' = any(${ids}::text[])) as endpoints`;
  return row ?? { vms: false, rules: false, endpoints: false };
}

export async function listSubnets(sql: Queryable, listing: Listing): Promise<SubnetRow[]> {
  return await sql<SubnetRow[]>`${selectSubnet(sql)} where ${listed(sql, listing)}`;
}

export async function readSubnet(
  sql: Queryable,
  { projectId, subnetId }: SubnetKey,
): Promise<SubnetRow | undefined> {
  const [row] = await sql<
    SubnetRow[]
  >`${selectSubnet(sql)} where project_id = ${projectId} and id = ${subnetId}`;
  return row;
}

/** Prevents new references to the subnet until the transaction ends. Locks its network first. */
export async function lockSubnet(
  sql: Queryable,
  { projectId, subnetId }: SubnetKey,
): Promise<SubnetRow | undefined> {
  await sql`select from networks where id = (select network_id from subnets
    where project_id = ${projectId} and id = ${subnetId}) for no key update`;
  await sql`select from subnets where project_id = ${projectId} and id = ${subnetId} for update`;
  return await readSubnet(sql, { projectId, subnetId });
}

export async function findOverlappingSubnet(
  sql: Queryable,
  { networkId, cidr }: { networkId: string; cidr: string },
): Promise<{ name: string; cidr: string } | undefined> {
  const [row] = await sql<{ name: string; cidr: string }[]>`
    select name, cidr from subnets where network_id = ${networkId} and cidr && ${cidr}::cidr order by id limit 1`;
  return row;
}

export type NewSubnet = Omit<SubnetRow, 'tags'> & { projectId: string; at: Date };

/** Returns false if there is no such location. */
export async function insertSubnet(sql: Queryable, subnet: NewSubnet): Promise<boolean> {
  const { count } = await sql`
    insert into subnets (id, project_id, network_id, location, name, cidr, created_at)
    select ${subnet.id}, ${subnet.projectId}, ${subnet.vpc_network_id}, name, ${subnet.name}, ${subnet.cidr}, ${subnet.at}
    from locations where name = ${subnet.location}`;
  return count > 0;
}

export async function removeSubnet(sql: Queryable, subnetId: string): Promise<void> {
  await sql`delete from subnets where id = ${subnetId}`;
}
