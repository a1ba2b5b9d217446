import type { Queryable } from '@gantry/db/connect';
import {
  listTracedRules,
  readProjectAddress,
  readVmInterface,
  type TracedRuleRow,
} from '@gantry/db/queries/firewall-traces';
import { parseIpv4 } from '@gantry/model/cidr';
import { badRequest, CloudError } from '@gantry/model/errors';
import type { End } from '@gantry/model/firewall/plan-path';
import { tracePacket } from '@gantry/model/firewall/trace-packet';
import type { z } from '@hono/zod-openapi';
import { EPHEMERAL_PORT, type TraceFirewall } from './trace-schema.ts';
import type { FirewallTrace, TracedRule } from './view.ts';

type Field = 'from' | 'to';
type Where = { sql: Queryable; projectId: string };

/** What the rules that are wanted now do to a connection's first packet. Changes nothing. */
export async function traceFirewall(
  where: Where,
  body: z.output<typeof TraceFirewall>,
): Promise<FirewallTrace> {
  const ends = {
    from: await resolveEnd(where, 'from', body.from),
    to: await resolveEnd(where, 'to', body.to),
  };
  const networkIds = requireWay(ends);
  const rows = await listTracedRules(where.sql, { projectId: where.projectId, networkIds });
  const rules = rows.filter(({ state }) => state !== 'deleting').map(toRule);
  const { protocol, port: destinationPort = 0, source_port: sourcePort = EPHEMERAL_PORT } = body;
  const trace = tracePacket({ ...ends, protocol, destinationPort, sourcePort }, rules);
  if (!trace) {
    const message =
      'the VM at "from" has no public address, so "to" sees its host\'s: ask with that address as "from"';
    throw new CloudError('conflict', message);
  }
  return { ...trace, settled: rows.every(({ state }) => state === 'active') };
}

async function resolveEnd({ sql, projectId }: Where, field: Field, text: string): Promise<End> {
  if (parseIpv4(text) === undefined) {
    const row = await readVmInterface(sql, { projectId, vmId: text });
    if (!row) throw badRequest([{ field, reason: 'is no VM of this project' }]);
    if (row.address === null) {
      const message = `the VM at "${field}" has no address yet: it gets one when it is placed`;
      throw new CloudError('conflict', message);
    }
    return {
      kind: 'inside',
      as: 'vm',
      isGateway: false,
      networkId: row.network_id,
      address: row.address,
      publicAddress: row.public_address,
    };
  }
  // The host's own towards each VM, in every network.
  if (text.startsWith('169.254.')) {
    throw badRequest([{ field, reason: 'is of the host, which no rule is about' }]);
  }
  const row = await readProjectAddress(sql, { projectId, address: text });
  if (!row) return { kind: 'outside', address: text };
  return {
    kind: 'inside',
    as: row.named_by,
    isGateway: row.is_gateway,
    networkId: row.network_id,
    address: row.address,
    publicAddress: row.public_address,
  };
}

/** Returns the networks whose rules are asked. */
function requireWay({ from, to }: Record<Field, End>): string[] {
  const ends = [from, to];
  const networkIds = ends.flatMap((end) => (end.kind === 'inside' ? [end.networkId] : []));
  if (networkIds.length === 0) {
    const reason =
      'is outside, and so is the other end: one of them has to be a VM of this project';
    throw badRequest([{ field: 'from', reason }]);
  }
  const isSame = from.kind === to.kind && from.address === to.address;
  if (isSame && new Set(networkIds).size === 1) {
    throw badRequest([{ field: 'to', reason: 'is what "from" is: it never leaves the VM' }]);
  }
  return networkIds;
}

function toRule(row: TracedRuleRow): TracedRule {
  const meaning = (cidrs: (string | null)[]) => cidrs.filter((cidr) => cidr !== null);
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    networkId: row.network_id,
    direction: row.direction,
    action: row.action,
    protocols: row.protocols,
    sources: meaning(row.sources),
    sourcePorts: row.source_ports,
    destinations: meaning(row.destinations),
    destinationPorts: row.destination_ports,
  };
}
