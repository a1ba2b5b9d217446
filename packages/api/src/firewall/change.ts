import type { Queryable } from '@gantry/db/connect';
import {
  type FirewallRuleRow,
  lockFirewallRule,
  updateFirewallRule,
  updateFirewallRuleDeleted,
} from '@gantry/db/queries/firewall-rules';
import { insertOperation, type NewOperation } from '@gantry/db/queries/operations';
import { CloudError, notFound } from '@gantry/model/errors';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { openOperation, requireNoOperation } from '../operations/open.ts';
import { canonical, requirePortsFit, requireResources } from './create.ts';
import type { ChangeFirewallRule } from './schema.ts';

type Target = {
  sql: Queryable;
  projectId: string;
  ruleId: string;
  now: Date;
  deadlineAt: Date;
};

export async function changeFirewallRule(
  target: Target & { body: z.output<typeof ChangeFirewallRule> },
): Promise<NewOperation> {
  const { sql, ruleId, body } = target;
  const rule = await requireIdleRule(target);
  if (rule.state === 'deleting') {
    throw new CloudError('conflict', 'the firewall rule is being deleted: create a new one');
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
  // What the rule has named all along may be gone by now, and is no fault of this request.
  await requireResources(target, body);
  await updateFirewallRule(sql, ruleId, changed);
  return await opened(target, 'UPDATE', body);
}

export async function deleteFirewallRule(target: Target): Promise<NewOperation> {
  await requireIdleRule(target);
  await updateFirewallRuleDeleted(target.sql, target.ruleId);
  return await opened(target, 'DELETE', {});
}

/** The rule, locked, with nothing else being done to it. */
async function requireIdleRule({ sql, projectId, ruleId }: Target): Promise<FirewallRuleRow> {
  const rule = await lockFirewallRule(sql, { projectId, ruleId });
  if (!rule) throw notFound('firewall rule');
  await requireNoOperation(sql, ruleId);
  return rule;
}

async function opened(target: Target, name: OperationName, request: object): Promise<NewOperation> {
  const { sql, projectId, ruleId, now, deadlineAt } = target;
  const operation = openOperation({
    projectId,
    resourceType: 'vpc-firewall-rule',
    resourceId: ruleId,
    name,
    request,
    now,
    deadlineAt,
  });
  await insertOperation(sql, operation);
  return operation;
}
