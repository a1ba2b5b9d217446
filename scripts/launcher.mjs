// Starts the launcher of packages/local, which runs Gantry's processes on this machine.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { root } from './workspace.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Starts the launcher with a message channel, by which it also notices the end of this process.
 * Signals are passed on. A Ctrl-C reaches the launcher twice, from the terminal and from here; the
 * launcher treats signals that arrive together as one.
 */
export function startLauncher(args) {
  const script = path.join(root, 'packages/local/dist/main.mjs');
  const launcher = spawn(process.execPath, ['--enable-source-maps', script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const passOn = (signal) => launcher.kill(signal);
  for (const signal of SIGNALS) process.on(signal, passOn);
  launcher.on('exit', () => {
    for (const signal of SIGNALS) process.off(signal, passOn);
  });
  return launcher;
}
