import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** True in the script that was started, false where it is imported. */
export function isMain(url) {
  return process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(url);
}

/** The directories of the workspace that hold a package.json, from the root. */
export function packageDirectories() {
  const nested = readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`);
  return ['.', ...nested.sort(), 'proto', 'test'].filter((directory) =>
    existsSync(path.join(root, directory, 'package.json')),
  );
}

/** One digest of all the files, their names included. */
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

/** A tool of the workspace, by its name in node_modules/.bin. */
export function tool(name) {
  return path.join(root, 'node_modules/.bin', name);
}

/** Runs a program to its end. With `quiet` its output is collected, otherwise shown as it comes. */
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
