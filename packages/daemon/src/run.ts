import type { Log } from './log.ts';
import { SettingsError } from './settings.ts';

const FAILURE = 1;
/** A setting must be corrected. The units do not restart a process that ends with this. */
const SETTINGS_FAILURE = 2;

/**
 * The life of every process: start, report that it is ready, wait for a stop request, drain, exit.
 *
 * A stop request is SIGTERM, SIGINT, or the loss of the IPC channel to the parent process, because
 * the child of a killed launcher must not stay behind. A second signal exits at once.
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
    // Longer than any request or loop run may take. After that something hangs.
    const limit = setTimeout(() => {
      log.error('drain timed out');
      process.exit(1);
    }, drainMs);
    limit.unref();
    try {
      await running?.stop();
    } catch (error) {
      log.error({ error }, 'stop failed');
      process.exitCode = 1;
    }
    clearTimeout(limit);
    if (process.connected) process.disconnect();
    process.exit();
  };

  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  process.on('disconnect', () => void stop('disconnect'));
  // A lost promise is a bug. The process is in an unknown state, so it exits and is restarted.
  process.on('unhandledRejection', (error) => {
    log.fatal({ error }, 'BUG: unhandled rejection');
    process.exit(1);
  });

  try {
    running = await start();
  } catch (error) {
    log.fatal({ error }, 'start failed');
    process.exit(error instanceof SettingsError ? SETTINGS_FAILURE : FAILURE);
  }
  log.info(running.ready ?? {}, 'ready');
  process.send?.({ ready: running.ready ?? {} });
}
