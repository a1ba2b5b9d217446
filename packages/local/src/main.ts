import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SettingsError } from '@gantry/daemon/settings';
import { readSettings } from './base/settings.ts';
import { StartError } from './base/start-error.ts';
import { launch, type Running } from './launcher.ts';
import { listenForStop } from './processes/stop-signals.ts';

// The root is three levels up, both from the source and from the bundle.
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

async function main(): Promise<number> {
  const running: Running = { children: [] };
  const stopping = new AbortController();
  let failure: unknown;
  const say = (text: string) => {
    process.stdout.write(text);
  };
  const fail = (error: unknown) => {
    failure ??= error;
    stopping.abort();
  };
  // If the terminal is closed, writing fails. The launcher must still stop its processes.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  listenForStop({
    onFirst() {
      say('\nStopping …\n');
      stopping.abort();
    },
    onSecond() {
      // The database's guard stops the database after this process has exited.
      for (const child of running.children) child.kill();
      process.exit(1);
    },
  });

  // Sent by `npm run dev` after a build.
  process.on('message', ({ restart }: { restart?: string }) => {
    running.children.find(({ name }) => name === restart)?.restart();
  });

  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve());
  });
  try {
    const settings = readSettings({ root, args: process.argv.slice(2), env: process.env });
    await launch({ root, settings, running, stopping, say, fail });
    await stopped;
  } catch (error) {
    if (!stopping.signal.aborted) failure ??= error;
  }
  // The database stops last, because the other processes write to it while they drain.
  await Promise.all(running.children.map((child) => child.stop()));
  await running.realHost?.leave(say);
  await running.database?.stop();
  if (failure === undefined) return 0;
  process.stderr.write(`${describe(failure)}\n`);
  return 1;
}

function describe(error: unknown): string {
  if (error instanceof StartError || error instanceof SettingsError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}
