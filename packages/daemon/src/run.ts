import type { Log } from './log.ts';

/**
 * How every process here lives: start, say it is ready, wait for the word to stop, drain, exit.
 *
 * The word is SIGTERM, SIGINT, or the loss of the IPC channel to the process that started it: a
 * child of a launcher that was killed must not stay behind. A second signal ends it at once.
 */
type Running = { ready?: Record<string, unknown>; stop(): Promise<void> };

type RunOptions = { log: Log; start: () => Promise<Running>; drainMs?: number };

export async function runProcess({ log, start, drainMs = 30_000 }: RunOptions): Promise<void> {
  let stopping = false;
  let running: Running | undefined;

  const stop = async (reason: string) => {
    if (stopping) {
      if (reason !== 'disconnect') process.exit(1);
      return;
    }
    stopping = true;
    log.info({ reason }, 'stopping');
    // Longer than any request or loop turn may take; past it something hangs and waiting is no help.
    const limit = setTimeout(() => {
      log.error('did not drain in time');
      process.exit(1);
    }, drainMs);
    limit.unref();
    try {
      await running?.stop();
    } catch (error) {
      log.error({ error }, 'stopping failed');
      process.exitCode = 1;
    }
    clearTimeout(limit);
    if (process.connected) process.disconnect();
    process.exit();
  };

  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  process.on('disconnect', () => void stop('disconnect'));
  // A lost promise is a bug; a process in an unknown state hands its work to the next one.
  process.on('unhandledRejection', (error) => {
    log.fatal({ error }, 'BUG: unhandled rejection');
    process.exit(1);
  });

  try {
    running = await start();
  } catch (error) {
    log.fatal({ error }, 'could not start');
    process.exit(1);
  }
  log.info(running.ready ?? {}, 'ready');
  process.send?.({ ready: running.ready ?? {} });
}
