import type { Queryable } from '@gantry/db/connect';
import { replaceTags } from '@gantry/db/queries/listing';
import { firewallRuleView } from '@gantry/db/queries/networks/firewall-rule-view';
import {
  type FirewallRuleRow,
  lockFirewallRule,
  updateFirewallRule,
  updateFirewallRuleDeleted,
} from '@gantry/db/queries/networks/firewall-rules';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { CloudError, notFound } from '@gantry/model/errors';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import {
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import { canonical, requirePortsFit, requireResources } from './create.ts';
import type { ChangeFirewallRule } from './schema.ts';

type Target = {
  sql: Queryable;
  projectId: string;
  ruleId: string;
  now: Date;
  deadlineMs: number;
};

/** Tags concern no host, so a change of nothing else succeeds at once. */
export async function changeFirewallRule(
  target: Target & { body: z.output<typeof ChangeFirewallRule> },
): Promise<NewOperation> {
  const { sql, ruleId, body } = target;
  const rule = await requireIdleRule(target);
  if (rule.state === 'deleting') {
    throw new CloudError('conflict', 'the firewall rule is being deleted: create a new one');
  }
  const { tags, ...definition } = body;
  if (tags) await replaceTags(sql, { table: 'firewall_rules', id: ruleId, tags });
  if (Object.values(definition).every((value) => value === undefined)) {
    const result = firewallRuleView({ ...rule, tags: tags ?? rule.tags });
    return await recordSucceededOperation(sql, opening(target, 'UPDATE', body), result);
  }
  const changed = {
    name: body.name ?? rule.name,
    protocols: body.protocols ?? rule.protocols,
    sources: body.sources?.map(canonical) ?? rule.sources,
    source_ports: body.source_ports ?? rule.source_ports,
    destinations: body.destinations?.map(canonical) ?? rule.destinations,
    destination_ports: body.destination_ports ?? rule.destination_ports,
  };
  requirePortsFit(changed);
  // Only the endpoints of this request are checked: others that the rule names may be deleted by
  // now.
  await requireResources(target, body);
  await updateFirewallRule(sql, ruleId, changed);
  return await start(target, 'UPDATE', body);
}

export async function deleteFirewallRule(target: Target): Promise<NewOperation> {
  await requireIdleRule(target);
  await updateFirewallRuleDeleted(target.sql, target.ruleId);
  return await start(target, 'DELETE', {});
}

/** Locks the rule and returns it, or throws if an operation on it is unfinished. */
async function requireIdleRule({ sql, projectId, ruleId }: Target): Promise<FirewallRuleRow> {
  const rule = await lockFirewallRule(sql, { projectId, ruleId });
  if (!rule) throw notFound('firewall rule');
  await requireNoOperation(sql, ruleId);
  return rule;
}

async function start(target: Target, name: OperationName, request: object): Promise<NewOperation> {
  return await startOperation(target.sql, opening(target, name, request));
}

function opening(target: Target, name: OperationName, request: object) {
  const { projectId, ruleId: resourceId, now, deadlineMs } = target;
  const resourceType = 'vpc-firewall-rule' as const;
  return { projectId, resourceType, resourceId, name, request, now, deadlineMs };
}
