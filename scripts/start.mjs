// npm start: what is needed is installed and built, then the launcher runs until it is told to stop.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { root } from './workspace.mjs';

try {
  await ensureInstalled();
  await build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

// The IPC channel tells the launcher when this process is gone, however it went.
const launcher = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    path.join(root, 'packages/local/dist/main.mjs'),
    ...process.argv.slice(2),
  ],
  { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
);

// A Ctrl-C reaches the launcher from the terminal and again from here; it takes signals that come
// together as one. Sent to this process alone, it would reach nobody without this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => launcher.kill(signal));
}

launcher.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
launcher.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
