import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';

/**
 * A client that follows the contract: it has a time limit, and after a lost connection or a 503 it
 * repeats a write with the same Idempotency-Key, at the other api.
 */
// biome-ignore lint/suspicious/noExplicitAny: replies are looked into freely
export type Reply = { status: number; body: any };
export type Request = { method: string; path: string; body?: object };

/** What a client that has a choice of apis waits for one of them. */
const REPLY_LIMIT_MS = 2_000;
/** An api that did not reply is left alone for so long, as a load balancer does. */
const AVOID_MS = 2_000;
const ATTEMPTS = 4;
const PAUSE_MS = 100;

export class TenantClient {
  /** How often each outcome of an attempt came: a status with its code, or what was lost. */
  readonly outcomes = new Map<string, number>();
  readonly #cloud: FaultyCloud;
  readonly #avoidedUntilMs = new Map<string, number>();
  #turn = 0;

  constructor(cloud: FaultyCloud) {
    this.#cloud = cloud;
  }

  /** Returns null if no attempt got a reply, so that the outcome is not known. */
  async send(request: Request, key: string = randomUUID()): Promise<Reply | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const reply = await this.#attempt(request, key);
      if (reply && reply.status !== 503) return reply;
      await delay(PAUSE_MS);
    }
    return null;
  }

  async #attempt({ method, path, body }: Request, key: string): Promise<Reply | null> {
    const url = this.#chooseApi();
    const { project_id, access_key } = this.#cloud.processes.credentials;
    try {
      const response = await fetch(`${url}/v0.1/projects/${project_id}${path}`, {
        method,
        headers: {
          ...{ authorization: `Bearer ${access_key}`, 'content-type': 'application/json' },
          ...(method === 'GET' ? {} : { 'idempotency-key': key }),
        },
        signal: AbortSignal.timeout(REPLY_LIMIT_MS),
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const reply: Reply = { status: response.status, body: await response.json() };
      if (reply.status === 503) this.#avoidedUntilMs.set(url, performance.now() + AVOID_MS);
      const code = reply.status < 400 ? '' : ` ${reply.body.code}`;
      this.#count(`${reply.status}${code}`);
      return reply;
    } catch (error) {
      this.#avoidedUntilMs.set(url, performance.now() + AVOID_MS);
      this.#count(error instanceof DOMException ? 'no reply in time' : 'connection lost');
      return null;
    }
  }

  /** Uses the apis round-robin, also if all of them are to be avoided. */
  #chooseApi(): string {
    const urls = this.#cloud.apis.map(({ url }) => url);
    const isWell = (url: string) => performance.now() > (this.#avoidedUntilMs.get(url) ?? 0);
    const well = urls.filter(isWell);
    const usable = well.length > 0 ? well : urls;
    this.#turn += 1;
    return usable[this.#turn % usable.length] ?? '';
  }

  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}
