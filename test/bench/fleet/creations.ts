import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { VM } from '../subject.ts';

/**
 * Durations of creations in milliseconds, measured by the client and by the clock of the server.
 */
export type Creations = { seen: number[]; own: number[]; failed: number; lateMs: number };

type Load = {
  url: string;
  accessKey: string;
  projectId: string;
  perSecond: number;
  seconds: number;
  /** The number of VMs to keep. Older VMs are deleted. */
  stock: number;
};

type Operation = { operation_id: string; state: string; started_at: string; completed_at: string };
type Created = { operation: Operation & { metadata: { id: string } } };

/** The interval grows, because frequent requests make a slow server slower. */
const POLL_MS = { first: 20, factor: 1.3, most: 500 };
const LIMIT_MS = 30_000;

/**
 * Sends creations at a constant rate, whatever their duration, as many independent clients would,
 * and polls the operation of each. When the number of VMs is reached, each creation deletes an
 * older VM.
 */
export async function createSteadily(load: Load): Promise<Creations> {
  const { perSecond, seconds, stock } = load;
  const client = openClient(load);
  const result: Creations = { seen: [], own: [], failed: 0, lateMs: 0 };
  const running: string[] = [];
  const work = new Set<Promise<void>>();

  const createOne = async () => {
    const started = performance.now();
    const name = `fleet-${nextName()}`;
    const created = await client<Created>('POST', '/vms', { ...VM, name }, name);
    const vmId = created.operation.metadata.id;
    const ended = await follow(created.operation.operation_id, started);
    if (ended?.state !== 'SUCCEEDED') throw new Error(`not created: ${JSON.stringify(ended)}`);
    result.seen.push(performance.now() - started);
    result.own.push(Date.parse(ended.completed_at) - Date.parse(ended.started_at));
    running.push(vmId);
    const oldest = running.length > stock ? running.shift() : undefined;
    if (oldest) await client('DELETE', `/vms/${oldest}`, undefined, `delete-${oldest}`);
  };

  const follow = async (id: string, started: number): Promise<Operation | undefined> => {
    let pauseMs = POLL_MS.first;
    while (performance.now() - started < LIMIT_MS) {
      await delay(pauseMs);
      const operation = await client<Operation>('GET', `/vms/operations/${id}`);
      if (operation.state !== 'IN_PROGRESS') return operation;
      pauseMs = Math.min(POLL_MS.most, pauseMs * POLL_MS.factor);
    }
    return undefined;
  };

  const begun = performance.now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    const dueMs = begun + (number * 1_000) / perSecond - performance.now();
    if (dueMs > 0) await delay(dueMs);
    result.lateMs = Math.max(result.lateMs, -dueMs);
    const one = createOne()
      .catch((error: unknown) => {
        result.failed += 1;
        if (result.failed < 5) console.error(error);
      })
      .finally(() => work.delete(one));
    work.add(one);
  }
  await Promise.all(work);
  return result;
}

function openClient({ url, accessKey, projectId }: Load) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return <Reply>(method: string, path: string, body?: object, key?: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const call = request(
        `${url}/v0.1/projects/${projectId}${path}`,
        {
          ...{ agent, method },
          headers: {
            authorization: `Bearer ${accessKey}`,
            ...(body && { 'content-type': 'application/json' }),
            ...(key && { 'idempotency-key': key }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            if (response.statusCode === 200) resolve(JSON.parse(text));
            else reject(new Error(`${method} ${path} replied ${response.statusCode} ${text}`));
          });
        },
      );
      call.on('error', reject);
      call.end(body && JSON.stringify(body));
    });
}

let names = 0;

function nextName(): string {
  names += 1;
  return `${process.pid}-${names}`;
}
