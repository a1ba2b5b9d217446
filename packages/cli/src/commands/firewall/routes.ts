import { buildRouteMap } from '@stricli/core';
import { createRule, deleteRule, listRules } from './rules.ts';
import { traceConnection } from './trace.ts';

export const firewallRoutes = buildRouteMap({
  routes: { list: listRules, create: createRule, delete: deleteRule, trace: traceConnection },
  docs: { brief: 'Firewall rules' },
});
