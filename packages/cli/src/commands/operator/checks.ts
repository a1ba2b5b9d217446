import type { Client, Schemas } from '@gantry/sdk';
import type { Host } from './host.ts';

export type Finding = { result: 'ok' | 'warn' | 'fail'; check: string; message: string };

/** How long ago a failed operation is still news. */
const RECENT_MS = 24 * 3_600_000;
/** An installation may have thousands of projects, and each costs a request. */
const MOST_PROJECTS = 100;

/** Checks the hosts and devices of an installation. */
export async function checkHosts(client: Client): Promise<Finding[]> {
  const hosts: Host[] = [];
  for await (const host of client.adminHosts.list({ limit: 1000 }))
    if (host.state !== 'fenced') hosts.push(host);
  const lost = hosts.filter(({ state, connected }) => state === 'unreachable' || !connected);
  const devices = hosts.flatMap(({ gpus, drives }) => [...gpus, ...drives]);
  const isBlocked = ({ state, quarantine_reason, problems }: (typeof devices)[number]) =>
    state === 'quarantined' ||
    state === 'missing' ||
    quarantine_reason !== '' ||
    problems.some(({ severity }) => severity === 'block');
  const blocked = devices.filter(isBlocked).length;
  return [
    finding('fail', 'hosts connected', lost, `${hosts.length} connected`),
    finding(
      'warn',
      'hosts as accepted',
      hosts.filter(({ drift }) => drift.length > 0),
    ),
    finding(
      'fail',
      'hosts without trouble',
      hosts.filter(({ trouble }) => trouble !== ''),
    ),
    finding(
      'fail',
      'VMs reply',
      hosts.filter(({ unresponsive_vms }) => unresponsive_vms.length > 0),
    ),
    finding(
      'warn',
      'no unknown VMs',
      hosts.filter(({ unknown_vms }) => unknown_vms.length > 0),
    ),
    {
      ...{ check: 'devices usable', result: blocked === 0 ? 'ok' : 'warn' },
      message:
        blocked === 0
          ? `${devices.length} GPUs and drives`
          : `${blocked} of ${devices.length} are blocked: gantry device list`,
    },
  ];
}

const NAMES_SHOWN = 3;

function finding(
  result: 'warn' | 'fail',
  check: string,
  hosts: readonly Host[],
  good = '',
): Finding {
  if (hosts.length === 0) return { result: 'ok', check, message: good };
  const names = hosts.slice(0, NAMES_SHOWN).map(({ name }) => name);
  const more = hosts.length > NAMES_SHOWN ? ` and ${hosts.length - NAMES_SHOWN} more` : '';
  const advice = `gantry host show ${names[0]}`;
  return { result, check, message: `not so on ${names.join(', ')}${more}: ${advice}` };
}

export async function checkOrphans(client: Client): Promise<Finding> {
  const { items } = await client.adminOrphans.list({ limit: 1000 });
  const check = 'no orphans';
  if (items.length === 0) return { result: 'ok', check, message: '' };
  const message = `${items.length} VMs run that the database does not know`;
  return { result: 'warn', check, message };
}

/** Looks for operations on VMs that failed in the last day. */
export async function checkOperations(
  client: Client,
  projects: readonly string[],
): Promise<Finding> {
  const looked = projects.slice(0, MOST_PROJECTS);
  const failed: Schemas['Operation'][] = [];
  for (const project_id of looked) {
    const { items } = await client.vmOperations.list({ project_id, state: 'FAILED', limit: 100 });
    failed.push(...items.filter(isRecent));
  }
  const check = 'operations succeed';
  const where = looked.length < projects.length ? ` in the first ${looked.length} projects` : '';
  if (failed.length === 0)
    return { result: 'ok', check, message: `none failed in the last day${where}` };
  const message = `${failed.length} failed in the last day${where}: ${codesOf(failed)}`;
  return { result: 'warn', check, message };
}

function isRecent({ completed_at }: Schemas['Operation']): boolean {
  return Date.now() - Date.parse(completed_at) < RECENT_MS;
}

/** The codes, the most frequent one first, such as `3 out_of_stock, 1 host_failed`. */
function codesOf(operations: readonly Schemas['Operation'][]): string {
  const counts = new Map<string, number>();
  for (const { result } of operations) {
    const code = String(result?.['code'] ?? 'unknown');
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ');
}
