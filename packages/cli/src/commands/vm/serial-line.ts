import type { IncomingMessage } from 'node:http';
import { ApiError, ConnectionError } from '@gantry/sdk';
import type { WebSocket } from 'ws';
import type { CliContext } from '../../cli-context.ts';
import { ConsoleClosedError, InterruptedError } from '../../cli-errors.ts';
import { escapeKeys } from '../../terminal/escape-keys.ts';

/** A proxy that does not know WebSockets may never reply. */
const HANDSHAKE_MS = 20_000;

/** How long a server that does not reply any more may delay the end of the process. */
const CLOSE_MS = 1_000;

/** Opens the WebSocket of a console, paused. `ws` is loaded only here: every command would pay for it. */
export async function openSocket(url: string): Promise<WebSocket> {
  const { WebSocket: Socket } = await import('ws');
  const socket = new Socket(url, { handshakeTimeout: HANDSHAKE_MS });
  const request = { method: 'GET', path: new URL(url).pathname };
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => {
      // Nothing is lost that the guest prints before the terminal is attached.
      socket.pause();
      resolve();
    });
    socket.once('error', (cause) =>
      reject(new ConnectionError(request, { attempts: 1, cause, idempotencyKey: undefined })),
    );
    // A refusal is a normal reply of the API, with a message and a request id.
    socket.once('unexpected-response', (_, response) => {
      void readRefusal(response).then((reply) => reject(new ApiError(reply, request)), reject);
    });
  });
  return socket;
}

async function readRefusal(response: IncomingMessage) {
  const { text } = await import('node:stream/consumers');
  const headers = new Headers();
  const id = response.headers['x-request-id'];
  if (typeof id === 'string') headers.set('x-request-id', id);
  return { status: response.statusCode ?? 0, headers, text: await text(response) };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Connects the terminal with the socket until the user leaves, the server closes it, or a signal arrives.
 * The mode of the terminal is restored in all these cases. Without a terminal the input is sent as it is,
 * and its end does not end the console: a script can go on reading the output.
 */
export async function attachTerminal(
  { process: io }: CliContext,
  socket: WebSocket,
): Promise<void> {
  const { stdin, stdout } = io;
  const isTerminal = stdin.isTTY === true && stdin.setRawMode !== undefined;
  const read = escapeKeys();
  let leave = () => {};
  let fail: (error: Error) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });
  const type = (chunk: Buffer) => {
    const { send, leave: isLeaving } = isTerminal ? read(chunk) : { send: chunk, leave: false };
    if (send.length > 0) socket.send(send);
    if (isLeaving) leave();
  };
  const stop = () => fail(new InterruptedError('the console was closed by a signal'));
  socket.on('message', (data: Buffer) => {
    if (stdout.write(data) !== false) return;
    // The guest can print faster than a terminal can show.
    socket.pause();
    stdout.once?.('drain', () => socket.resume());
  });
  socket.once('error', (error) => fail(new ConsoleClosedError(0, error.message)));
  socket.once('close', (code, reason) => fail(new ConsoleClosedError(code, reason.toString())));
  stdin.on('data', type);
  if (isTerminal) stdin.once('end', leave);
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    if (isTerminal) stdin.setRawMode?.(true);
    socket.resume();
    await ended;
  } finally {
    if (isTerminal) stdin.setRawMode?.(false);
    for (const signal of SIGNALS) process.off(signal, stop);
    stdin.off('data', type);
    // A stream that is still read, or an open socket, would keep the process alive.
    stdin.pause();
    socket.close();
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }
}
