import type { Client, Schemas } from '@gantry/sdk';
import type { Host } from './host.ts';

type Operation = Schemas['Operation'];
export type Finding = { result: 'ok' | 'warn' | 'fail'; check: string; message: string };

/** How long ago a failed operation is still news. The summary of the fleet counts the same time. */
const RECENT_MS = 24 * 3_600_000;

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

const OPERATIONS = 'operations succeed';
/** The codes of more failures than this would not be read. */
const CODES_READ = 100;

/** Shows how the GPUs are used, and counts the failed operations of all tenants. */
export async function checkSummary(client: Client): Promise<Finding[]> {
  const { gpus, failed_operations } = await client.adminFleet.summary();
  const count = (state: 'free' | 'sold' | 'cleaning' | 'blocked') =>
    gpus.reduce((sum, each) => sum + each[state], 0);
  const capacity =
    `${count('free')} free, ${count('sold')} sold, ${count('cleaning')} being cleaned, ` +
    `${count('blocked')} blocked`;
  const page = { state: 'FAILED', limit: CODES_READ } as const;
  const newest = failed_operations > 0 ? (await client.adminOperations.list(page)).items : [];
  return [
    { result: 'ok', check: 'GPUs counted', message: capacity },
    operationsFinding(failed_operations, newest.filter(isRecent)),
  ];
}

/** Looks for operations on VMs of the caller's projects. */
export async function checkOwnOperations(client: Client): Promise<Finding> {
  const failed: Operation[] = [];
  for (const { id: project_id } of await client.projects.list()) {
    const page = { project_id, state: 'FAILED', limit: CODES_READ } as const;
    failed.push(...(await client.vmOperations.list(page)).items.filter(isRecent));
  }
  return operationsFinding(failed.length, failed);
}

function operationsFinding(count: number, failed: readonly Operation[]): Finding {
  const check = OPERATIONS;
  if (count === 0) return { result: 'ok', check, message: 'none failed in the last day' };
  const codes = failed.length > 0 ? `: ${codesOf(failed)}` : '';
  return { result: 'warn', check, message: `${count} failed in the last day${codes}` };
}

function isRecent({ started_at }: Operation): boolean {
  return Date.now() - Date.parse(started_at) < RECENT_MS;
}

/** The codes, the most frequent one first, such as `3 out_of_stock, 1 host_failed`. */
function codesOf(operations: readonly Operation[]): string {
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
