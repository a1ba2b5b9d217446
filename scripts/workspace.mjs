import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Returns true if the script was started, and false if it was imported. */
export function isMain(url) {
  return process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(url);
}

/** Returns the directories of the workspace that have a package.json, relative to the root. */
export function packageDirectories() {
  const nested = readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`);
  return ['.', ...nested.sort(), 'proto', 'test'].filter((directory) =>
    existsSync(path.join(root, directory, 'package.json')),
  );
}

/** Returns one hash of all the files, including their names. */
export function hashFiles(files, ...more) {
  const hash = createHash('sha256');
  for (const file of files) {
    hash
      .update(`${path.relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  for (const text of more) hash.update(`${text}\0`);
  return hash.digest('hex');
}

export function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Returns the path of a program in node_modules/.bin. */
export function tool(name) {
  return path.join(root, 'node_modules/.bin', name);
}

/** Runs a program until it ends. With `quiet` the output is collected, otherwise it is shown. */
export function run(command, args, { quiet = false, env = process.env, cwd = root } = {}) {
  return new Promise((resolve) => {
    const stdio = quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'];
    const child = spawn(command, args, { cwd, env, stdio });
    let output = '';
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout?.setEncoding('utf8').on('data', collect);
    child.stderr?.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => resolve({ ok: false, output: `${command}: ${error.message}` }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

export function secondsSince(start) {
  return (performance.now() - start) / 1000;
}
