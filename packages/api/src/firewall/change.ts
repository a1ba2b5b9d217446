import type { Queryable } from '@gantry/db/connect';
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
import { requireNoOperation, startOperation } from '../operations/open.ts';
import { canonical, requirePortsFit, requireResources } from './create.ts';
import type { ChangeFirewallRule } from './schema.ts';

type Target = {
  sql: Queryable;
  projectId: string;
  ruleId: string;
  now: Date;
  deadlineMs: number;
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
  const { sql, projectId, ruleId, now, deadlineMs } = target;
  return await startOperation(sql, {
    projectId,
    resourceType: 'vpc-firewall-rule',
    resourceId: ruleId,
    name,
    request,
    now,
    deadlineMs,
  });
}
