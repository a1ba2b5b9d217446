import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { documentedLines } from '@gantry/testkit/docs/documented';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';

/** A signed repository with packages of this checkout, which are built as operators build them. */
export type Repository = {
  folder: string;
  /** Builds all packages with this version, and returns their files. `fresh`: without anything that was built before. */
  build(version: string, options?: { name?: string; fresh?: boolean }): Promise<string[]>;
  /** Adds built packages to the repository. */
  publish(files: string[]): Promise<void>;
  remove(): Promise<void>;
};

export async function makeRepository(): Promise<Repository> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-repository-'));
  const folder = path.join(directory, 'repository');
  const env = { ...process.env, GNUPGHOME: path.join(directory, 'keys') };
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, args, { env, cwd: root });
  const stopAgent = () => run('gpgconf', '--kill', 'all').catch(() => undefined);
  const [build = '', makeKey = '', publish = ''] = documentedLines('install.md', 'npm run package');
  const shell = (command: string, ...more: string[]) =>
    run('sh', '-c', [command, ...more].join(' '));
  await mkdir(env.GNUPGHOME, { mode: 0o700 });
  await shell(makeKey.replace('gpg ', `gpg --batch --passphrase '' `));
  return {
    folder,
    async build(version, { name = version, fresh = false } = {}) {
      const output = path.join(directory, name);
      const options = ['--compression fast', `--architecture ${architecture}`];
      if (fresh) options.push('--fresh');
      await shell(`${build} --`, ...options, `--version ${version}`, `--output '${output}'`);
      return (await readdir(output)).sort().map((file) => path.join(output, file));
    },
    async publish([first = '']) {
      await shell(publish, `--packages '${path.dirname(first)}'`, `--repository '${folder}'`);
    },
    async remove() {
      await stopAgent();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export async function hashesOf(files: readonly string[]): Promise<Record<string, string>> {
  const entries = files.map(async (file) => {
    const hash = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    return [path.basename(file), hash] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
