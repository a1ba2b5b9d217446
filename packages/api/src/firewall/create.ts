import type { Queryable } from '@gantry/db/connect';
import { replaceTags } from '@gantry/db/queries/listing';
import {
  type FirewallRuleDefinition,
  holdNetwork,
  holdRuleResources,
  insertFirewallRule,
} from '@gantry/db/queries/networks/firewall-rules';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { canonicalEndpointCidr } from '@gantry/model/cidr';
import { badRequest, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { startOperation } from '../operations/open.ts';
import type { CreateFirewallRule } from './schema.ts';

type Body = z.output<typeof CreateFirewallRule>;
type Creation = {
  sql: Queryable;
  projectId: string;
  body: Body;
  now: Date;
  deadlineMs: number;
};

export async function createFirewallRule({
  sql,
  projectId,
  body,
  now,
  deadlineMs,
}: Creation): Promise<NewOperation> {
  requirePortsFit(body);
  const known = await holdNetwork(sql, { projectId, networkId: body.vpc_network_id });
  if (!known) throw notFound('network');
  await requireResources({ sql, projectId }, body);
  const id = newId(now.getTime());
  const { sources, destinations } = body;
  await insertFirewallRule(sql, {
    ...body,
    id,
    projectId,
    at: now,
    sources: sources.map(canonical),
    destinations: destinations.map(canonical),
  });
  if (body.tags) await replaceTags(sql, { table: 'firewall_rules', id, tags: body.tags });
  return await startOperation(sql, {
    projectId,
    resourceType: 'vpc-firewall-rule',
    resourceId: id,
    name: 'CREATE',
    request: echo(body),
    now,
    deadlineMs,
  });
}

/** Spells direction and action as the public contract does in the echo of a request. */
function echo(body: Body) {
  return {
    ...body,
    direction: `DIRECTION_${body.direction.toUpperCase()}`,
    action: `ACTION_${body.action.toUpperCase()}`,
  };
}

type Endpoint = FirewallRuleDefinition['sources'][number];
type Endpoints = { sources?: Endpoint[] | undefined; destinations?: Endpoint[] | undefined };

/** Writes an address without a prefix as the block of that address alone. */
export function canonical({ resource_id, cidr }: Endpoint): Endpoint {
  return { resource_id, cidr: cidr && (canonicalEndpointCidr(cidr) ?? '') };
}

export async function requireResources(
  { sql, projectId }: Pick<Creation, 'sql' | 'projectId'>,
  endpoints: Endpoints,
): Promise<void> {
  const named = (['sources', 'destinations'] as const).flatMap((member) =>
    (endpoints[member] ?? []).map(({ resource_id }, index) => ({
      id: resource_id,
      field: `${member}.${index}.resource_id`,
    })),
  );
  const ids = named.flatMap(({ id }) => (id === '' ? [] : [id]));
  if (ids.length === 0) return;
  const known = await holdRuleResources(sql, { projectId, ids });
  const unknown = named.filter(({ id }) => id !== '' && !known.has(id));
  if (unknown.length === 0) return;
  const reason = 'is not a VM, subnet or network of this project';
  throw badRequest(unknown.map(({ field }) => ({ field, reason })));
}

/** Refuses ports if icmp is the only protocol. Next to other protocols, icmp ignores the ports. */
export function requirePortsFit(
  rule: Pick<FirewallRuleDefinition, 'protocols' | 'source_ports' | 'destination_ports'>,
): void {
  if (rule.protocols.some((protocol) => protocol !== 'icmp')) return;
  const given = (['source_ports', 'destination_ports'] as const).filter(
    (member) => rule[member].length > 0,
  );
  if (given.length === 0) return;
  throw badRequest(
    given.map((field) => ({ field, reason: 'must be empty, because icmp has no ports' })),
  );
}
