import type { Queryable } from '@gantry/db/connect';
import {
  listTracedRules,
  readProjectAddress,
  readVmInterface,
  type TracedRuleRow,
} from '@gantry/db/queries/networks/firewall-traces';
import { parseIpv4 } from '@gantry/model/cidr';
import { badRequest, CloudError } from '@gantry/model/errors';
import type { End } from '@gantry/model/firewall/plan-path';
import { tracePacket } from '@gantry/model/firewall/trace-packet';
import type { z } from '@hono/zod-openapi';
import { EPHEMERAL_PORT, type TraceFirewall } from './trace-schema.ts';
import type { FirewallTrace, TracedRule } from './view.ts';

type Field = 'from' | 'to';
type Where = { sql: Queryable; projectId: string };

/** Returns what the desired rules do with the first packet of a connection. Changes nothing. */
export async function traceFirewall(
  where: Where,
  body: z.output<typeof TraceFirewall>,
): Promise<FirewallTrace> {
  const ends = {
    from: await resolveEnd(where, 'from', body.from),
    to: await resolveEnd(where, 'to', body.to),
  };
  const networkIds = requireNetworks(ends);
  const rows = await listTracedRules(where.sql, { projectId: where.projectId, networkIds });
  const rules = rows.filter(({ state }) => state !== 'deleting').map(toRule);
  const { protocol, port: destinationPort = 0, source_port: sourcePort = EPHEMERAL_PORT } = body;
  const trace = tracePacket({ ...ends, protocol, destinationPort, sourcePort }, rules);
  if (!trace) {
    const message =
      'the VM at "from" has no public address, so "to" sees the address of its host: use that ' +
      'address as "from"';
    throw new CloudError('conflict', message);
  }
  return { ...trace, settled: rows.every(({ state }) => state === 'active') };
}

async function resolveEnd({ sql, projectId }: Where, field: Field, text: string): Promise<End> {
  if (parseIpv4(text) === undefined) {
    const row = await readVmInterface(sql, { projectId, vmId: text });
    if (!row) throw badRequest([{ field, reason: 'is not a VM of this project' }]);
    if (row.address === null) {
      const message = `the VM at "${field}" has no address yet: try again after the VM was placed on a host`;
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
  // In every network the host has a link-local address for its VMs.
  if (text.startsWith('169.254.')) {
    throw badRequest([
      { field, reason: 'is a link-local address of the host, which firewall rules do not cover' },
    ]);
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

/** Returns the networks whose rules apply, or throws if the packet meets no rule. */
function requireNetworks({ from, to }: Record<Field, End>): string[] {
  const ends = [from, to];
  const networkIds = ends.flatMap((end) => (end.kind === 'inside' ? [end.networkId] : []));
  if (networkIds.length === 0) {
    const reason =
      'must be a VM of this project, or "to" must be: both addresses are outside the project';
    throw badRequest([{ field: 'from', reason }]);
  }
  const isSame = from.kind === to.kind && from.address === to.address;
  if (isSame && new Set(networkIds).size === 1) {
    throw badRequest([
      { field: 'to', reason: 'is the same as "from": such a packet never leaves the VM' },
    ]);
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
