// npm start: installs and builds what is missing, then runs the launcher until it is stopped.
import { constants } from 'node:os';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { programFor, startLauncher } from './launcher.mjs';

try {
  programFor(process.argv.slice(2));
  await ensureInstalled();
  await build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

const launcher = startLauncher(process.argv.slice(2));
launcher.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
launcher.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
