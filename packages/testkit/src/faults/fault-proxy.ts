import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy on loopback between two processes, for faults of the network. It passes bytes until a
 * test chooses another mode, which applies at once to the open connections and to new ones:
 *
 * - `pass`: every byte arrives.
 * - `cut`: open connections are reset, and new ones are reset when they are accepted.
 * - `hole`: bytes of one direction or of both stop, and connections stay open. The bytes arrive
 *   when the mode ends, as TCP retransmits what a network has dropped.
 * - `half-open`: the target has forgotten its connections and does not say so. Clients get no
 *   reply, also on new connections. When the mode ends, their connections are reset.
 * - `slow`: each chunk arrives later by a delay, and a direction carries only so many bytes a second.
 */
export type FaultMode =
  | { is: 'pass' | 'cut' | 'half-open' }
  | { is: 'hole'; direction: Direction | 'both' }
  | { is: 'slow'; delayMs: number; bytesPerS: number };
export type Direction = 'to-target' | 'from-target';

export type FaultProxy = {
  port: number;
  readonly mode: FaultMode;
  set(mode: FaultMode): void;
  /** New connections go to another port of loopback. The open ones are reset. */
  retarget(port: number): void;
  stop(): Promise<void>;
};

/** What a slow direction takes at a time, so that a slow link delivers a steady trickle. */
const SLOW_CHUNK_BYTES = 4_096;

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const proxy = new TcpProxy(targetPort);
  await proxy.listen();
  return proxy;
}

class TcpProxy implements FaultProxy {
  readonly #server: Server = createServer({ allowHalfOpen: true }, (client) => this.#join(client));
  readonly #pairs = new Set<Pair>();
  #target: number;
  #mode: FaultMode = { is: 'pass' };

  constructor(target: number) {
    this.#target = target;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get mode(): FaultMode {
    return this.#mode;
  }

  set(mode: FaultMode): void {
    const before = this.#mode;
    this.#mode = mode;
    if (mode.is === 'cut' || before.is === 'half-open') this.#reset();
    for (const pair of this.#pairs) pair.behave(mode);
  }

  retarget(port: number): void {
    this.#target = port;
    this.#reset();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#reset();
    await closed;
  }

  #reset(): void {
    for (const pair of this.#pairs) pair.reset();
  }

  #join(client: Socket): void {
    if (this.#mode.is === 'cut') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const pair = new Pair(
      client,
      connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true }),
    );
    this.#pairs.add(pair);
    pair.ended = () => this.#pairs.delete(pair);
    pair.behave(this.#mode);
  }
}

/** One connection: the client's side and the side of the target. */
class Pair {
  ended: () => void = () => {};
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #ways: [OneWay, OneWay];
  #isForgotten = false;

  constructor(client: Socket, target: Socket) {
    this.#client = client;
    this.#target = target;
    this.#ways = [
      new OneWay('to-target', client, target),
      new OneWay('from-target', target, client),
    ];
    for (const socket of [client, target]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.#lost());
      socket.on('close', () => this.#closed());
    }
  }

  behave(mode: FaultMode): void {
    if (mode.is === 'half-open' && !this.#isForgotten) {
      this.#isForgotten = true;
      this.#target.resetAndDestroy();
    }
    for (const way of this.#ways) way.behave(mode);
  }

  reset(): void {
    this.#isForgotten = false;
    for (const socket of [this.#client, this.#target])
      if (!socket.destroyed) socket.resetAndDestroy();
    this.ended();
  }

  /** The other side learns of an error of one side, unless the network hides it. */
  #lost(): void {
    if (!this.#isForgotten) this.reset();
  }

  #closed(): void {
    if (this.#client.destroyed && this.#target.destroyed) this.ended();
    else if (!this.#isForgotten && (this.#client.errored || this.#target.errored)) this.reset();
    else if (this.#client.destroyed && !this.#client.readableEnded) this.reset();
  }
}

/** Copies the bytes of one direction, with the backpressure of the receiver. */
class OneWay {
  readonly #direction: Direction;
  readonly #from: Socket;
  readonly #to: Socket;
  #mode: FaultMode = { is: 'pass' };
  #held: Buffer[] = [];
  #hasEnded = false;
  #isBusy = false;

  constructor(direction: Direction, from: Socket, to: Socket) {
    this.#direction = direction;
    this.#from = from;
    this.#to = to;
    from.on('data', (chunk: Buffer) => {
      this.#held.push(chunk);
      from.pause();
      this.#pump();
    });
    from.on('end', () => {
      this.#hasEnded = true;
      this.#pump();
    });
  }

  behave(mode: FaultMode): void {
    this.#mode = mode;
    this.#pump();
  }

  get #isStopped(): boolean {
    const mode = this.#mode;
    if (mode.is === 'half-open' || mode.is === 'cut') return true;
    return mode.is === 'hole' && (mode.direction === 'both' || mode.direction === this.#direction);
  }

  #pump(): void {
    if (this.#isBusy || this.#isStopped || this.#to.destroyed) return;
    const chunk = this.#next();
    if (chunk === undefined) {
      if (this.#hasEnded) this.#to.end();
      else this.#from.resume();
      return;
    }
    this.#isBusy = true;
    const done = () => {
      this.#isBusy = false;
      this.#pump();
    };
    const send = () => {
      if (this.#to.destroyed) return;
      this.#to.write(chunk, () => done());
    };
    const waitMs = this.#waitMs(chunk.length);
    if (waitMs > 0) setTimeout(send, waitMs);
    else send();
  }

  #next(): Buffer | undefined {
    const first = this.#held.shift();
    if (first === undefined || this.#mode.is !== 'slow') return first;
    if (first.length <= SLOW_CHUNK_BYTES) return first;
    this.#held.unshift(first.subarray(SLOW_CHUNK_BYTES));
    return first.subarray(0, SLOW_CHUNK_BYTES);
  }

  #waitMs(bytes: number): number {
    if (this.#mode.is !== 'slow') return 0;
    return this.#mode.delayMs + (1_000 * bytes) / this.#mode.bytesPerS;
  }
}
