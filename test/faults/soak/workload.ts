import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import type { Random } from './random.ts';
import { type Reply, type Request, TenantClient } from './tenant-client.ts';
import { KINDS, type Kind, type Known, methodOf, VERBS, type Verb } from './verbs.ts';

/**
 * Clients that write without pause until they are stopped, over all apis. Everything that was
 * acknowledged is kept for the checker.
 */
export type Acknowledged = {
  verb: Verb['name'];
  kind: Kind;
  resourceId: string;
  /** Null if the write was complete with its reply. */
  operationId: string | null;
};

const CLIENTS = 6;
/** A client looks at its operation for so long, and then goes on with something else. */
const WATCH_MS = 1_500;
const POLL_MS = 40;
/** Every so many writes, one is repeated with its key and must have the same operation. */
const REPEAT_EVERY = 12;

const KIND_OF_TYPE = { vm: 'VM', disk: 'disk', 'vpc-firewall-rule': 'rule' } as const;

export class Workload {
  readonly client: TenantClient;
  readonly acknowledged: Acknowledged[] = [];
  /** The paths of requests whose outcome no client knows: they may have happened. */
  readonly uncertain: string[] = [];
  /** Broken promises that a client saw. */
  readonly findings: string[] = [];
  /** Secrets that replies contained. No log may contain them. */
  readonly secrets: string[] = [];
  /** When operations were seen to have succeeded, by performance.now(). */
  readonly successes: number[] = [];
  readonly #known: Known;
  readonly #random: Random;
  #running: Promise<void>[] = [];
  #isStopped = true;
  #writes = 0;

  private constructor(client: TenantClient, random: Random, known: Known) {
    this.client = client;
    this.#random = random;
    this.#known = known;
  }

  static async open(cloud: FaultyCloud, random: Random): Promise<Workload> {
    const client = new TenantClient(cloud);
    const reply = await client.send({ method: 'GET', path: '/vpc/networks' });
    const defaultNetwork = reply?.body.items[0].id;
    const known = {
      ...{ VM: [], disk: [], rule: [], network: [], subnet: [], key: [] },
      ...{ 'SSH-key': [], address: [], webhook: [], snapshot: [], backup: [], image: [] },
    };
    return new Workload(client, random, { ...known, defaultNetwork });
  }

  start(): void {
    this.#isStopped = false;
    this.#running = Array.from({ length: CLIENTS }, () => this.#work());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  /** Reads what exists, so that the next schedule acts on it. */
  async refresh(): Promise<void> {
    for (const kind of Object.keys(KINDS) as Kind[]) this.#known[kind] = await this.list(kind);
  }

  /** The resources of a kind that the workload created, as the api lists them. */
  async list(kind: Kind): Promise<string[]> {
    const { path, prefix } = KINDS[kind];
    const reply = await this.client.send({ method: 'GET', path: `${path}?limit=1000` });
    if (reply?.status !== 200) throw new Error(`GET ${path}: ${JSON.stringify(reply)}`);
    const items = reply.body.items as { id: string; name: string }[];
    return items.filter(({ name }) => name.startsWith(prefix)).map(({ id }) => id);
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      const verb = this.#random.weighted(VERBS);
      const request = verb.request(this.#known, this.#random);
      if (!request) continue;
      await this.#write(verb.name, { method: methodOf(verb), ...request });
    }
  }

  async #write(verb: Verb['name'], request: Request): Promise<void> {
    const key = randomUUID();
    const reply = await this.client.send(request, key);
    if (!reply) {
      this.uncertain.push(request.path);
      return;
    }
    if (reply.status >= 500)
      this.findings.push(`${verb}: ${reply.status} ${JSON.stringify(reply.body)}`);
    if (reply.status !== 200) {
      // A client that only hears refusals would not leave others any time.
      await delay(10);
      return;
    }
    const { operation = null, id, access_key } = reply.body;
    if (access_key) this.secrets.push(access_key);
    // The operation of an attachment is one of the VM.
    const kind = operation
      ? KIND_OF_TYPE[operation.metadata.type as keyof typeof KIND_OF_TYPE]
      : (verb.split(' ')[1] as Kind);
    const resourceId = operation?.metadata.id ?? id;
    const operationId = operation?.operation_id ?? null;
    this.acknowledged.push({ verb, kind, resourceId, operationId });
    this.#learn(verb, { kind, id: resourceId });
    this.#writes += 1;
    if (this.#writes % REPEAT_EVERY === 0) await this.#repeat(verb, { request, key, reply });
    if (operation) await this.#watch(kind, operation.operation_id);
    else this.successes.push(performance.now());
  }

  async #repeat(
    verb: string,
    { request, key, reply }: { request: Request; key: string; reply: Reply },
  ): Promise<void> {
    const again = await this.client.send(request, key);
    if (again && JSON.stringify(again) !== JSON.stringify(reply))
      this.findings.push(
        `${verb} with the same key: ${JSON.stringify(reply)}, then ${JSON.stringify(again)}`,
      );
  }

  #learn(verb: string, { kind, id }: { kind: Kind; id: string }): void {
    const list = this.#known[kind];
    if (verb.startsWith('create')) list.push(id);
    if (verb.startsWith('delete') && list.includes(id)) list.splice(list.indexOf(id), 1);
  }

  async #watch(kind: Kind, operationId: string): Promise<void> {
    const endMs = performance.now() + WATCH_MS;
    const path = `${KINDS[kind].path}/operations/${operationId}`;
    while (!this.#isStopped && performance.now() < endMs) {
      const reply = await this.client.send({ method: 'GET', path });
      if (reply?.status === 404) this.findings.push(`operation ${operationId} is gone`);
      const state = reply?.body.state;
      if (state === 'SUCCEEDED') this.successes.push(performance.now());
      if (state === 'SUCCEEDED' || state === 'FAILED') return;
      await delay(POLL_MS);
    }
  }
}
