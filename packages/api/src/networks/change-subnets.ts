import type { Queryable } from '@gantry/db/connect';
import { replaceTags, updateNameAndTags } from '@gantry/db/queries/listing';
import {
  findOverlappingSubnet,
  insertSubnet,
  lockSubnet,
  lockSubnetsOfNetwork,
  readSubnet,
  removeSubnet,
  type SubnetRow,
} from '@gantry/db/queries/networks/networks';
import { cidrContains, parseCidr } from '@gantry/model/cidr';
import { badRequest, CloudError, notFound, unknownLocation } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { requireUnused } from './change-networks.ts';
import type { ChangeSubnet, CreateSubnet } from './schema.ts';

type Creation = {
  sql: Queryable;
  projectId: string;
  body: z.output<typeof CreateSubnet>;
  now: Date;
};

/**
 * Locks the network, so that the second of two overlapping requests sees the subnet of the first.
 */
export async function createSubnet({ sql, projectId, body, now }: Creation): Promise<SubnetRow> {
  const networkId = body.vpc_network_id;
  const network = await lockSubnetsOfNetwork(sql, { projectId, networkId });
  if (!network) throw notFound('network');
  requireInside(network.cidr, body.cidr);
  const other = await findOverlappingSubnet(sql, { networkId, cidr: body.cidr });
  if (other) {
    throw new CloudError(
      'conflict',
      `the cidr overlaps ${other.cidr} of the subnet "${other.name}": choose another block`,
    );
  }
  const { tags = {}, ...wanted } = body;
  const subnet = { ...wanted, id: newId(now.getTime()), tags };
  const known = await insertSubnet(sql, { ...subnet, projectId, at: now });
  if (!known) throw unknownLocation(body.location);
  if (body.tags) await replaceTags(sql, { table: 'subnets', id: subnet.id, tags });
  return subnet;
}

function requireInside(networkCidr: string, cidr: string): void {
  const [outer, inner] = [parseCidr(networkCidr), parseCidr(cidr)];
  if (outer && inner && cidrContains(outer, inner)) return;
  throw badRequest([
    { field: 'cidr', reason: `must be inside ${networkCidr}, the cidr of the network` },
  ]);
}

type Target = { sql: Queryable; projectId: string; subnetId: string };

/** Hosts know neither names nor tags. */
export async function changeSubnet({
  sql,
  body,
  ...key
}: Target & { body: z.output<typeof ChangeSubnet> }): Promise<SubnetRow> {
  const { projectId, subnetId: id } = key;
  await updateNameAndTags(sql, { table: 'subnets', projectId, id, ...body });
  const subnet = await readSubnet(sql, key);
  if (!subnet) throw notFound('subnet');
  return subnet;
}

export async function deleteSubnet({ sql, projectId, subnetId }: Target): Promise<SubnetRow> {
  const subnet = await lockSubnet(sql, { projectId, subnetId });
  if (!subnet) throw notFound('subnet');
  await requireUnused(sql, { projectId, ids: [subnetId] });
  await removeSubnet(sql, subnetId);
  return subnet;
}
