import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import { createLog } from '@gantry/daemon/log';
import { CloudError } from '@gantry/model/errors';
import type { ConsoleBytes } from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import type { ConsoleCall } from './dial-console.ts';
import { CONSOLE_TIMINGS, serveConsole } from './serve-console.ts';

/** A client that takes bytes when the test lets it. */
class Client extends EventEmitter {
  received: string[] = [];
  closedWith = 0;
  pings = 0;
  isTerminated = false;
  isPaused = false;
  #sent: (() => void)[] = [];
  send(data: Buffer, sent: () => void): void {
    this.received.push(String(data));
    this.#sent.push(sent);
  }
  takeOne(): void {
    this.#sent.shift()?.();
  }
  close(code: number): void {
    this.closedWith ||= code;
  }
  ping(): void {
    this.pings += 1;
  }
  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}

/** The scheduler's side; `typed` is what it has received. */
class Call extends Duplex {
  typed: string[] = [];
  isCancelled = false;
  #taken: (() => void)[] = [];
  constructor() {
    super({ objectMode: true });
    this.on('error', () => {});
  }
  override _read(): void {}
  override _write({ data }: ConsoleBytes, _encoding: BufferEncoding, done: () => void): void {
    this.typed.push(String(data));
    this.#taken.push(done);
  }
  takeAll(): void {
    for (const done of this.#taken.splice(0)) done();
  }
  cancel(): void {
    this.isCancelled = true;
  }
}

let client: Client;
let call: Call;
let requireRights: () => Promise<void>;
const log = createLog({ process: 'test', level: 'silent' });

beforeEach(() => {
  vi.useFakeTimers();
  client = new Client();
  call = new Call();
  requireRights = async () => {};
  serveConsole({
    socket: client as unknown as WebSocket,
    call: call as unknown as ConsoleCall,
    requireRights: () => requireRights(),
    log,
    timings: CONSOLE_TIMINGS,
  });
});
afterEach(() => vi.useRealTimers());

const print = (text: string) => call.push({ data: Buffer.from(text), end: '' });
const turn = () => vi.advanceTimersByTimeAsync(0);

it('the console reads from the guest only after the client has taken the previous bytes', async () => {
  for (let at = 0; at < 100; at += 1) print(`${at}`);
  await turn();
  expect(client.received).toEqual(['0']);
  client.takeOne();
  await turn();
  expect(client.received).toEqual(['0', '1']);
  expect(call.readableLength).toBeGreaterThan(90);
});

it('the console stops reading from the client while the guest takes nothing', async () => {
  for (let at = 0; at < 100 && !client.isPaused; at += 1) client.emit('message', Buffer.from('x'));
  expect(client.isPaused).toBe(true);
  expect(call.writableLength).toBeLessThanOrEqual(16);
  while (call.writableLength > 0) {
    call.takeAll();
    await turn();
  }
  expect(client.isPaused).toBe(false);
});

it.each([
  [status.RESOURCE_EXHAUSTED, 4429],
  [status.UNAVAILABLE, 4503],
  [status.UNAUTHENTICATED, 4503],
])('a console closes with its own code if the scheduler ends with %d', async (code, closing) => {
  call.destroy(Object.assign(new Error('ended'), { code }));
  await turn();
  expect(client.closedWith).toBe(closing);
});

it.each([
  ['vm_not_running', 4409],
  ['vm_stopped', 4410],
  ['a word that is new', 4500],
])('a console closes with the reason that the host sent: %s', async (end, closing) => {
  call.push({ data: Buffer.alloc(0), end });
  await turn();
  expect(client.closedWith).toBe(closing);
});

it('a client that leaves pings unanswered is disconnected, unless its guest is slow', async () => {
  for (let at = 0; at < 20; at += 1) {
    await vi.advanceTimersByTimeAsync(CONSOLE_TIMINGS.checkMs);
    client.emit('pong');
  }
  client.isPaused = true;
  await vi.advanceTimersByTimeAsync(2 * CONSOLE_TIMINGS.silentMs);
  expect(client.isTerminated).toBe(false);
  client.isPaused = false;
  await vi.advanceTimersByTimeAsync(CONSOLE_TIMINGS.silentMs + CONSOLE_TIMINGS.checkMs);
  expect([client.isTerminated, call.isCancelled]).toEqual([true, true]);
});

it('a console closes if the rights are lost, but not if they cannot be checked', async () => {
  requireRights = async () => {
    throw new CloudError('unavailable', 'the database is not reachable');
  };
  await vi.advanceTimersByTimeAsync(CONSOLE_TIMINGS.checkMs);
  expect(client.closedWith).toBe(0);
  requireRights = async () => {
    throw new CloudError('forbidden', 'this request needs the role member');
  };
  await vi.advanceTimersByTimeAsync(CONSOLE_TIMINGS.checkMs);
  expect(client.closedWith).toBe(4401);
});
