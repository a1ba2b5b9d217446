import type { Sql } from '@gantry/db/connect';
import { ARRAY_TYPES } from '@gantry/db/text-arrays';
import postgres from 'postgres';

/** A statement as PostgreSQL executed it. */
export type Plan = {
  statement: string;
  /** Rows that the nodes read from tables and indexes, including those that a filter dropped. */
  rowsRead: number;
  /** Pages of 8 KiB, from the cache or not. */
  pages: number;
  /** The tables that were read completely. */
  scanned: string[];
};

export type PlanWatch = { sql: Sql; plans: Plan[]; end(): Promise<void> };

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
};

/**
 * Opens a connection that reports how the server executed each statement, also those of functions and
 * triggers. It uses auto_explain, so that the product's own functions run as they are, with their
 * parameters and prepared plans.
 */
export async function watchPlans(url: string): Promise<PlanWatch> {
  const plans: Plan[] = [];
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    types: ARRAY_TYPES,
    onnotice: ({ message }) => {
      const start = message?.indexOf('{') ?? -1;
      if (message?.includes('plan:') && start >= 0) plans.push(readPlan(message.slice(start)));
    },
  });
  await sql.unsafe(`load 'auto_explain'; set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_timing = off;
    set auto_explain.log_format = json; set auto_explain.log_nested_statements = on;
    set client_min_messages = log; set timezone = 'UTC'`);
  plans.length = 0;
  return { sql, plans, end: () => sql.end() };
}

function readPlan(json: string): Plan {
  const { 'Query Text': statement, Plan: root } = JSON.parse(json) as {
    'Query Text': string;
    Plan: PlanNode;
  };
  const nodes = [...nodesOf(root)];
  const reading = nodes.filter((node) => node['Relation Name'] !== undefined);
  return {
    statement: statement.replaceAll(/\s+/g, ' ').trim(),
    rowsRead: reading.reduce((sum, node) => sum + rowsOf(node), 0),
    pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    scanned: reading
      .filter((node) => node['Node Type'].endsWith('Seq Scan'))
      .map((node) => node['Relation Name'] ?? ''),
  };
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

function rowsOf(node: PlanNode): number {
  const rows =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  return rows * node['Actual Loops'];
}
