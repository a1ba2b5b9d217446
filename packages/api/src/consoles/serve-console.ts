import type { Log } from '@gantry/daemon/log';
import { CloudError } from '@gantry/model/errors';
import type { ConsoleBytes__Output } from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { status } from '@grpc/grpc-js';
import type { WebSocket } from 'ws';
import { CLOSINGS, type Closing, closingOf } from './closings.ts';
import type { ConsoleCall } from './dial-console.ts';

export type ConsolePace = {
  /** How often rights and silence are looked at. */
  checkMs: number;
  /** A client that answers no ping for so long is gone, or does not read. */
  silentMs: number;
  /** How long nothing may be printed or typed. */
  idleMs: number;
};

export const CONSOLE_PACE: ConsolePace = { checkMs: 5_000, silentMs: 30_000, idleMs: 1_800_000 };

type Console = {
  socket: WebSocket;
  call: ConsoleCall;
  /** Throws once the one who opened it may not any more. */
  requireRights: () => Promise<void>;
  log: Log;
  pace: ConsolePace;
};

/**
 * A client at one end, the scheduler at the other. The next bytes are taken from either side when the
 * last ones have left by the other, so that nothing piles up here. Each end closes the other.
 */
export function serveConsole({ socket, call, requireRights, log, pace }: Console): void {
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
    // By us, because the client has left.
    if (error.code === status.CANCELLED) return;
    const tooMany = error.code === status.RESOURCE_EXHAUSTED;
    if (!tooMany) log.warn({ error }, 'a console was lost');
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
    // While its guest takes no more, nothing is heard of a client either.
    if (socket.isPaused) heardAtMs = now;
    if (now - usedAtMs >= pace.idleMs) close('idle');
    else if (now - heardAtMs >= pace.silentMs) socket.terminate();
    else socket.ping();
    requireRights().catch((error) => {
      // A database that does not answer has not said no.
      if (error instanceof CloudError && error.kind !== 'unavailable') close('rights_ended');
    });
  }, pace.checkMs);

  socket.on('error', (error) => log.debug({ error }, 'a console broke'));
  socket.once('close', () => {
    clearInterval(timer);
    call.cancel();
  });
}
