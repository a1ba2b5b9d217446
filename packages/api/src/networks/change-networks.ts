import type { Queryable } from '@gantry/db/connect';
import { replaceTags, updateNameAndTags } from '@gantry/db/queries/listing';
import {
  findOverlappingNetwork,
  insertNetwork,
  lockNetwork,
  lockNetworksOfProject,
  type NetworkRow,
  readNetwork,
  readNetworkUse,
  removeNetwork,
} from '@gantry/db/queries/networks/networks';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import type { ChangeNetwork, CreateNetwork } from './schema.ts';

/** Networks are only definitions: a host learns of one with the first VM in it. */

type Creation = {
  sql: Queryable;
  projectId: string;
  body: z.output<typeof CreateNetwork>;
  now: Date;
};

export async function createNetwork({ sql, projectId, body, now }: Creation): Promise<NetworkRow> {
  await lockNetworksOfProject(sql, projectId);
  const other = await findOverlappingNetwork(sql, { projectId, cidr: body.cidr });
  if (other) {
    throw new CloudError(
      'conflict',
      `the cidr overlaps ${other.cidr} of the network "${other.name}": choose another block`,
    );
  }
  const id = newId(now.getTime());
  const { tags = {}, ...network } = body;
  await insertNetwork(sql, { id, projectId, ...network, at: now });
  if (body.tags) await replaceTags(sql, { table: 'networks', id, tags });
  return { id, ...network, is_default: false, subnets: [], tags };
}

type Target = { sql: Queryable; projectId: string; networkId: string };

/** Hosts know neither names nor tags. */
export async function changeNetwork({
  sql,
  body,
  ...key
}: Target & { body: z.output<typeof ChangeNetwork> }): Promise<NetworkRow> {
  const { projectId, networkId: id } = key;
  await updateNameAndTags(sql, { table: 'networks', projectId, id, ...body });
  const network = await readNetwork(sql, key);
  if (!network) throw notFound('network');
  return network;
}

/** Deletes a network and its subnets. Everything else that refers to it must be deleted before. */
export async function deleteNetwork({ sql, projectId, networkId }: Target): Promise<NetworkRow> {
  const network = await lockNetwork(sql, { projectId, networkId });
  if (!network) throw notFound('network');
  if (network.is_default) {
    throw new CloudError('conflict', 'the default network cannot be deleted: new VMs join it');
  }
  await requireUnused(sql, { projectId, ids: [networkId, ...network.subnets] });
  await removeNetwork(sql, networkId);
  return network;
}

export async function requireUnused(
  sql: Queryable,
  { projectId, ids }: { projectId: string; ids: string[] },
): Promise<void> {
  const use = await readNetworkUse(sql, { projectId, ids });
  if (use.vms) throw new CloudError('conflict', 'VMs use it: delete them first');
  if (use.rules) throw new CloudError('conflict', 'it has firewall rules: delete them first');
  if (use.endpoints) {
    throw new CloudError('conflict', 'firewall rules name it as an endpoint: change them first');
  }
}
