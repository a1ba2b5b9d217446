import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A proxy to PostgreSQL that understands statements, so that a process can be killed at a chosen one.
 * `watch` sees each statement that writes before the server gets it, and each commit of a transaction
 * with the statements that it contains. If `watch` returns `die-before`, the server never gets it.
 * `die-after` lets the server carry it out, and the process never learns of it. In both cases every
 * connection of the proxy ends and none is accepted any more, as if the process had been killed.
 */
export type Verdict = 'pass' | 'die-before' | 'die-after';
export type StatementProxy = { url: string; close(): void };
type Watch = {
  /** Called with the statement. */
  write(step: string): Verdict;
  /** Called with the steps of the transaction when it commits. A single statement commits itself. */
  commit(steps: string[]): Verdict;
  died(): void;
};

/** ReadyForQuery without an open transaction: the server has carried out what it got. */
const IDLE = Buffer.from('Z\0\0\0\x05I', 'latin1');

export async function startStatementProxy(databaseUrl: string, watch: Watch) {
  const url = new URL(databaseUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let isDead = false;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const die = () => {
    if (isDead) return;
    isDead = true;
    close();
    watch.died();
  };
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    const session = new Session(watch);
    let isMute = false;
    far.on('data', (data) => {
      if (!isMute) near.write(data);
      else if (data.includes(IDLE)) die();
    });
    near.on('data', (data) => {
      if (isDead || isMute) return;
      const verdict = session.read(data);
      if (verdict === 'die-before') return die();
      if (verdict === 'die-after') isMute = true;
      far.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: url.href, close } satisfies StatementProxy;
}

/** Reads the messages of a client on one connection. */
class Session {
  readonly #watch: Watch;
  readonly #prepared = new Map<string, string>();
  #left = Buffer.alloc(0);
  #isStarted = false;
  /** The steps of the open transaction; null if there is none. */
  #open: string[] | null = null;

  constructor(watch: Watch) {
    this.#watch = watch;
  }

  /** Returns the worst verdict about the statements in this chunk. */
  read(data: Buffer): Verdict {
    this.#left = Buffer.concat([this.#left, data]);
    let worst: Verdict = 'pass';
    for (const { type, body } of this.#messages()) {
      const verdict = this.#look(type, body);
      if (worst === 'pass') worst = verdict;
    }
    return worst;
  }

  *#messages(): Generator<{ type: string; body: Buffer }> {
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#left.length < head + 4) return;
      const size = head + this.#left.readUInt32BE(head);
      if (this.#left.length < size) return;
      const type = head === 0 ? '' : String.fromCharCode(this.#left[0] ?? 0);
      const body = this.#left.subarray(head + 4, size);
      this.#left = this.#left.subarray(size);
      this.#isStarted = true;
      yield { type, body };
    }
  }

  #look(type: string, body: Buffer): Verdict {
    const [first = '', second = ''] = body.toString('utf8').split('\0');
    if (type === 'P') this.#prepared.set(first, second);
    if (type === 'Q') return this.#judge(first);
    if (type === 'B') return this.#judge(this.#prepared.get(second) ?? '');
    return 'pass';
  }

  #judge(statement: string): Verdict {
    const text = statement.trim().toLowerCase();
    if (/^begin\b/.test(text)) {
      this.#open = [];
      return 'pass';
    }
    if (/^rollback\b/.test(text)) {
      if (!text.includes('savepoint')) this.#open = null;
      return 'pass';
    }
    if (/^commit\b/.test(text)) {
      const steps = this.#open ?? [];
      this.#open = null;
      return steps.length > 0 ? this.#watch.commit(steps) : 'pass';
    }
    const step = stepOf(text);
    if (step === '') return 'pass';
    const verdict = this.#watch.write(step);
    if (verdict !== 'pass') return verdict;
    if (this.#open) this.#open.push(step);
    else return this.#watch.commit([step]);
    return 'pass';
  }
}

/** Functions that write. */
const WRITING_FUNCTIONS = /\b(place_vms)\(/;

/**
 * Names a statement that writes by what it writes, such as "update vms (observed_state)", or by the
 * function that writes. Returns an empty text for a statement that only reads.
 */
export function stepOf(statement: string): string {
  const text = statement.toLowerCase().replaceAll(/\s+/g, ' ');
  const writes = text.matchAll(
    /\b(insert into|delete from) ([a-z_]+)|\bupdate ([a-z_]+)(?: (?:as )?[a-z]{1,2})? set ([a-z_]+)/g,
  );
  const names = [...writes].map(([, verb, table, updated, column]) =>
    updated ? `update ${updated} (${column})` : `${verb} ${table}`,
  );
  const called = WRITING_FUNCTIONS.exec(text)?.[1];
  return [...new Set([...names, ...(called ? [called] : [])])].join(', ');
}
