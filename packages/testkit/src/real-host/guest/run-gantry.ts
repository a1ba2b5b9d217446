import { writeFile } from 'node:fs/promises';
import path from 'node:path';

const CLI = path.resolve(import.meta.dirname, '../../../../cli/dist/main.mjs');
/** No file of the person who runs the test is read or written. */
const SSH = '/usr/bin/ssh -F none -o UserKnownHostsFile=/dev/null -o BatchMode=yes';

type Place = {
  /** Home of the CLI. */
  folder: string;
  url: string;
  accessKey: string;
  /** Runs a program where the api can be reached, and returns its output. */
  run(program: string, ...args: string[]): Promise<string>;
  /** What comes before `ssh`, if guests are reached from another place. */
  sshFrom?: readonly string[];
};

/** Returns a function that runs the bundled CLI as a person does. */
export async function gantryIn({ folder, url, accessKey, run, sshFrom = [] }: Place) {
  const ssh = [...sshFrom, SSH].join(' ');
  await writeFile(path.join(folder, 'ssh'), `#!/bin/sh\nexec ${ssh} "$@"\n`, { mode: 0o755 });
  const env = {
    ...{ PATH: `${folder}:${process.env['PATH']}`, HOME: folder, XDG_CONFIG_HOME: folder },
    ...{ GANTRY_URL: url, GANTRY_ACCESS_KEY: accessKey },
  };
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return (...args: string[]) => run('env', ...set, process.execPath, CLI, ...args);
}
