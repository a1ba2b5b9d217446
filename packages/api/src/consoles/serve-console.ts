import type { Log } from '@gantry/daemon/log';
import { CloudError } from '@gantry/model/errors';
import type { ConsoleBytes__Output } from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { status } from '@grpc/grpc-js';
import type { WebSocket } from 'ws';
import type { ConsoleTimings } from '../deps.ts';
import { CLOSINGS, type Closing, closingOf } from './closings.ts';
import type { ConsoleCall } from './dial-console.ts';

export const CONSOLE_TIMINGS: ConsoleTimings = {
  checkMs: 5_000,
  silentMs: 30_000,
  idleMs: 1_800_000,
};

type Console = {
  socket: WebSocket;
  call: ConsoleCall;
  /** Throws if the caller has lost the right to the console. */
  requireRights: () => Promise<void>;
  log: Log;
  timings: ConsoleTimings;
};

/**
 * Copies bytes between the client's WebSocket and the call to the scheduler. Bytes are only read
 * from one side after the other side has taken the previous ones, so that memory stays bounded. If
 * one side closes, the other is closed too.
 */
export function serveConsole({ socket, call, requireRights, log, timings }: Console): void {
  let heardAtMs = Date.now();
  let usedAtMs = heardAtMs;

  const close = (why: Closing) => {
    const [code, message] = CLOSINGS[why];
    socket.close(code, `${why}: ${message}`);
  };

  const show = async () => {
    for await (const { data, end } of call as AsyncIterable<ConsoleBytes__Output>) {
      usedAtMs = Date.now();
      if (data.length > 0) await new Promise((sent) => socket.send(data, sent));
      if (end !== '') return close(closingOf(end));
    }
    close('host_unreachable');
  };
  show().catch((error: { code?: number }) => {
    // The call was cancelled below, because the client has closed the socket.
    if (error.code === status.CANCELLED) return;
    const tooMany = error.code === status.RESOURCE_EXHAUSTED;
    if (!tooMany) log.warn({ error }, 'console lost');
    close(tooMany ? 'too_many_consoles' : 'host_unreachable');
  });

  socket.on('message', (data: Buffer) => {
    heardAtMs = usedAtMs = Date.now();
    if (call.write({ data })) return;
    socket.pause();
    call.once('drain', () => socket.resume());
  });
  socket.on('pong', () => {
    heardAtMs = Date.now();
  });

  const timer = setInterval(() => {
    const now = Date.now();
    // A socket is paused while the guest reads nothing, so its pongs do not arrive either.
    if (socket.isPaused) heardAtMs = now;
    if (now - usedAtMs >= timings.idleMs) close('idle');
    else if (now - heardAtMs >= timings.silentMs) socket.terminate();
    else socket.ping();
    requireRights().catch((error) => {
      // If the database is unavailable, the rights are unknown and the console stays open.
      if (error instanceof CloudError && error.kind !== 'unavailable') close('rights_ended');
    });
  }, timings.checkMs);

  socket.on('error', (error) => log.debug({ error }, 'console socket failed'));
  socket.once('close', () => {
    clearInterval(timer);
    call.cancel();
  });
}
