// Starts the launcher of packages/local, which runs Gantry's processes on this machine.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { root } from './workspace.mjs';

const LAUNCHER = 'packages/local/dist/main.mjs';
const STORAGE_LAUNCHER = 'packages/testkit/src/ceph/show-moving-vm.ts';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Returns the program that these arguments ask for. With a storage cluster, the launcher is a program of the test kit,
 * which has everything that puts a cluster and two hosts on one machine and removes them again.
 */
export function programFor(args) {
  const at = args.findIndex((each) => /^--storage(=|$)/.test(each));
  if (at < 0) return ['--enable-source-maps', path.join(root, LAUNCHER), ...args];
  const [flag = '', value = args[at + 1]] = args[at].split('=');
  const rest = args.filter((_, index) => index !== at && (index !== at + 1 || args[at] !== flag));
  if (value !== 'ceph')
    throw new Error('--storage: the only storage is ceph: --real --storage ceph');
  if (rest.join(' ') !== '--real')
    throw new Error(
      '--storage ceph needs --real and nothing else: npm start -- --real --storage ceph',
    );
  return ['--import', import.meta.resolve('tsx'), path.join(root, STORAGE_LAUNCHER)];
}

/**
 * Starts the launcher with a message channel, by which it also notices the end of this process.
 * Signals are passed on. A Ctrl-C reaches the launcher twice, from the terminal and from here; the
 * launcher treats signals that arrive together as one.
 */
export function startLauncher(args) {
  const launcher = spawn(process.execPath, programFor(args), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const passOn = (signal) => launcher.kill(signal);
  for (const signal of SIGNALS) process.on(signal, passOn);
  launcher.on('exit', () => {
    for (const signal of SIGNALS) process.off(signal, passOn);
  });
  return launcher;
}
