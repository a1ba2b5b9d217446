import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '@gantry/daemon/log';
import { runProcess } from '@gantry/daemon/run';
import { VM } from '../subject.ts';

/**
 * A tenant that does everything it may, as fast as it is let: it fills its projects with VMs and the
 * largest rules, replaces VMs, changes rules and reads long lists. It sends its next request as soon as
 * the last one has a reply, over many connections, and does not slow down when it is refused.
 */
export type AttackInput = { url: string; projects: AttackedProject[]; kinds: AttackKind[] };
export type AttackKind = 'vms' | 'rules' | 'lists';
export type AttackedProject = { projectId: string; accessKeys: string[] };

/** What it did, by method and path, and with which status. */
export type AttackCounts = Record<string, number>;

/** Of each kind of request, in each project. */
const CONNECTIONS: Record<AttackKind, number> = { vms: 12, rules: 6, lists: 4 };
/** As many maximal rules as the rules of a network may have bytes for. */
const RULES = 118;
const ENTRIES = 64;
const NETWORK_ERROR_MS = 100;
/** Limits by address must not refuse the other tenant, which has another one. */
const SOURCE = '127.0.0.66';
const agent = new Agent({ keepAlive: true });

const { url, projects, kinds }: AttackInput = JSON.parse(process.env['BENCH_ATTACK'] ?? '');
const counts: AttackCounts = {};
let serial = 0;

await runProcess({
  log: createLog({ process: 'attack', level: 'warn' }),
  start: async () => {
    process.on('message', (message: { bench?: string; counts?: boolean; begin?: boolean }) => {
      if (message.begin) for (const project of projects) attack(project);
      if (message.counts) process.send?.({ counted: counts });
    });
    return { stop: async () => process.exit() };
  },
});

function attack(project: AttackedProject): void {
  const requests = {
    vms: replaceVms(project),
    rules: changeRules(project),
    lists: readLists(project),
  };
  for (const kind of kinds)
    for (let i = 0; i < CONNECTIONS[kind]; i += 1) void again(requests[kind]);
}

async function again(request: () => Promise<void>): Promise<never> {
  for (;;) {
    try {
      await request();
    } catch {
      count('no reply');
      await delay(NETWORK_ERROR_MS);
    }
  }
}

/** Creates VMs until the quota is reached, then deletes one for each that it creates. */
function replaceVms(project: AttackedProject): () => Promise<void> {
  const running: string[] = [];
  return async () => {
    const created = await call(project, 'POST', '/vms', { ...VM, name: nextName() });
    if (created.status === 200) {
      running.push(created.body.operation.metadata.id);
      return;
    }
    const oldest = running.shift();
    if (oldest) await call(project, 'DELETE', `/vms/${oldest}`);
  };
}

/** Creates the largest rules that fit, then gives them other ports. */
function changeRules(project: AttackedProject): () => Promise<void> {
  const rules: string[] = [];
  let networkId: string | undefined;
  return async () => {
    networkId ??= (await call(project, 'GET', '/vpc/networks')).body.items?.[0]?.id;
    if (networkId === undefined) return;
    const ports = Array.from({ length: ENTRIES }, (_, i) =>
      String(1 + ((serial + 7 * i) % 65_000)),
    );
    if (rules.length < RULES) {
      const blocks = Array.from({ length: ENTRIES }, (_, i) => ({ cidr: `10.${i}.0.0/16` }));
      const created = await call(project, 'POST', '/vpc/firewall-rules', {
        ...{ name: nextName(), vpc_network_id: networkId, action: 'allow', direction: 'ingress' },
        ...{ protocols: ['tcp'], sources: blocks, destinations: blocks },
        ...{ source_ports: ports, destination_ports: ports },
      });
      if (created.status === 200) {
        rules.push(created.body.operation.metadata.id);
        return;
      }
    }
    const rule = rules[serial % rules.length];
    if (rule === undefined) return;
    await call(project, 'PATCH', `/vpc/firewall-rules/${rule}`, { destination_ports: ports });
  };
}

function readLists(project: AttackedProject): () => Promise<void> {
  const lists = ['/vms?limit=1000', '/vpc/firewall-rules?limit=1000', '/vms/operations?limit=1000'];
  return async () => {
    serial += 1;
    await call(project, 'GET', lists[serial % lists.length] ?? '');
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the bench reads few members of many replies.
type Reply = { status: number; body: any };

async function call(
  { projectId, accessKeys }: AttackedProject,
  method: string,
  path: string,
  body?: object,
): Promise<Reply> {
  serial += 1;
  const reply = await send(method, `/v0.1/projects/${projectId}${path}`, {
    key: accessKeys[serial % accessKeys.length] ?? '',
    ...(body && { body }),
  });
  count(`${method} ${path.replace(/\/[0-9a-f-]{36}/, '/…').replace(/\?.*/, '')} ${reply.status}`);
  return reply;
}

type Sent = { key: string; body?: object };

function send(method: string, path: string, { key, body }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && { 'idempotency-key': nextName() }),
    };
    const options = { agent, method, headers, localAddress: SOURCE };
    const call = request(`${url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
    });
    call.on('error', reject);
    call.end(body && JSON.stringify(body));
  });
}

function count(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

function nextName(): string {
  serial += 1;
  return `attack-${serial}`;
}
