import { firewallRuleView } from '@gantry/db/queries/networks/firewall-rule-view';
import {
  countHostsOfRule,
  listFirewallRules,
  readFirewallRule,
} from '@gantry/db/queries/networks/firewall-rules';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { notFound } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { resourcePage, TaggedResourceQuery, toListing } from '../http/lists/resource-list.ts';
import { type Request, route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationReply } from '../operations/view.ts';
import { changeFirewallRule, deleteFirewallRule } from './change.ts';
import { createFirewallRule } from './create.ts';
import {
  ChangeFirewallRule,
  CreateFirewallRule,
  FirewallRule,
  FirewallRulePage,
  FirewallRuleParams,
} from './schema.ts';
import { traceFirewall } from './trace.ts';
import { FirewallTrace, TraceFirewall } from './trace-schema.ts';
import { firewallTraceView } from './view.ts';

/** Every host with a VM of the network gets the changed rule, so the request counts as more than one. */
async function chargedReply(
  { sql, chargeHosts }: Pick<Request<unknown, unknown, unknown>, 'sql' | 'chargeHosts'>,
  operation: NewOperation,
) {
  if (operation.state === 'IN_PROGRESS')
    chargeHosts(await countHostsOfRule(sql, operation.resource_id));
  return operationReply(operation);
}

export const firewallRuleRoutes = [
  route({
    id: 'firewall-rules.create',
    method: 'post',
    path: '/projects/{project_id}/vpc/firewall-rules',
    summary: 'Create a firewall rule',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateFirewallRule,
    reply: OperationReply,
    handle: async (request) => {
      const { sql, scope, body, now, deadlineMs } = request;
      const creation = { sql, projectId: scope.projectId, body, now, deadlineMs };
      return await chargedReply(request, await createFirewallRule(creation));
    },
  }),
  route({
    id: 'firewall-rules.list',
    method: 'get',
    path: '/projects/{project_id}/vpc/firewall-rules',
    summary: 'List firewall rules, oldest first',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: TaggedResourceQuery,
    reply: FirewallRulePage,
    handle: async ({ sql, scope, query }) => {
      const rows = await listFirewallRules(sql, toListing(scope.projectId, query));
      return resourcePage(rows, query, firewallRuleView);
    },
  }),
  route({
    id: 'firewall-rules.get',
    method: 'get',
    path: '/projects/{project_id}/vpc/firewall-rules/{rule_id}',
    summary: 'Read a firewall rule',
    access: { level: 'project', role: 'read-only' },
    params: FirewallRuleParams,
    reply: FirewallRule,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, ruleId: params.rule_id };
      const row = await readFirewallRule(sql, key);
      if (!row) throw notFound('firewall rule');
      return firewallRuleView(row);
    },
  }),
  route({
    id: 'firewall-rules.change',
    method: 'patch',
    path: '/projects/{project_id}/vpc/firewall-rules/{rule_id}',
    summary: 'Change what a firewall rule matches, or its name',
    access: { level: 'project', role: 'member' },
    params: FirewallRuleParams,
    body: ChangeFirewallRule,
    reply: OperationReply,
    handle: async (request) => {
      const { sql, scope, params, body, now, deadlineMs } = request;
      const target = { sql, projectId: scope.projectId, ruleId: params.rule_id, now, deadlineMs };
      return await chargedReply(request, await changeFirewallRule({ ...target, body }));
    },
  }),
  route({
    id: 'firewall-rules.delete',
    method: 'delete',
    path: '/projects/{project_id}/vpc/firewall-rules/{rule_id}',
    summary: 'Delete a firewall rule',
    access: { level: 'project', role: 'member' },
    params: FirewallRuleParams,
    reply: OperationReply,
    handle: async (request) => {
      const { sql, scope, params, now, deadlineMs } = request;
      const target = { sql, projectId: scope.projectId, ruleId: params.rule_id, now, deadlineMs };
      return await chargedReply(request, await deleteFirewallRule(target));
    },
  }),
  route({
    id: 'firewall-rules.trace',
    method: 'post',
    path: '/projects/{project_id}/vpc/firewall-rules:trace',
    summary:
      'Find out whether the rules allow a connection, and which rule decides; changes nothing',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    body: TraceFirewall,
    reply: FirewallTrace,
    handle: async ({ sql, scope, body }) =>
      firewallTraceView(await traceFirewall({ sql, projectId: scope.projectId }, body)),
  }),
];
