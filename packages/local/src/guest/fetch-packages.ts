import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '../base/start-error.ts';
import { readIfThere, writePrivateFile } from '../home/home.ts';
import {
  chooseClosure,
  type DebianPackage,
  nameAndVersion,
  parseDownloads,
} from './package-list.ts';
import { runProgram } from './run-program.ts';

/** The lists that apt reads, and the environment of its programs. */
export type Apt = { lists: string; env: Record<string, string> };

/** apt as this machine is configured. */
export const OWN_APT: Apt = { lists: '/var/lib/apt/lists', env: {} };

type Remembered = { question: string; packages: DebianPackage[] };

/** Returns these packages and all that they depend on. */
export type ChoosePackages = (roots: readonly string[], apt: Apt) => Promise<string[]>;

/**
 * Returns the newest versions in apt's lists, without fetching anything. apt takes seconds, so the
 * result is cached in the file until `apt-get update` changes the lists.
 */
export async function listPackages(
  roots: readonly string[],
  file: string,
  { choose = chooseLibraries, apt = OWN_APT }: { choose?: ChoosePackages; apt?: Apt } = {},
): Promise<DebianPackage[]> {
  const lists = await stat(apt.lists).catch(() => undefined);
  if (!lists)
    throw new StartError(
      'The tiny guest is built from Debian packages, but this machine has no apt.',
    );
  const question = `${lists.mtimeMs} ${roots.join(' ')}`;
  const kept = parseRemembered(await readIfThere(file));
  if (kept?.question === question) return kept.packages;
  const packages = await askApt(await choose(roots, apt), apt);
  await writePrivateFile(file, JSON.stringify({ question, packages } satisfies Remembered));
  return packages;
}

function parseRemembered(text: string | undefined): Remembered | undefined {
  try {
    return JSON.parse(text ?? '') as Remembered;
  } catch {
    return undefined;
  }
}

async function chooseLibraries(roots: readonly string[], apt: Apt): Promise<string[]> {
  const kinds = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const flags = kinds.map((kind) => `--no-${kind}`);
  return chooseClosure(
    roots,
    await askAptFor('apt-cache', ['depends', '--recurse', ...flags, ...roots], apt),
  );
}

async function askApt(names: readonly string[], apt: Apt): Promise<DebianPackage[]> {
  const packages = parseDownloads(
    await askAptFor('apt-get', ['download', '--print-uris', ...names], apt),
  );
  if (packages.length === names.length) return packages;
  throw new StartError(`apt offers ${packages.length} of ${names.length} packages. ${ADVICE}`);
}

const ADVICE = 'As root, run `apt-get update` and try again.';

/** Runs a program of apt and returns its output. */
export async function askAptFor(
  program: 'apt-get' | 'apt-cache',
  args: readonly string[],
  { env }: Apt = OWN_APT,
): Promise<string> {
  try {
    return (await runProgram(program, ['-q', ...args], { env })).toString();
  } catch (error) {
    throw new StartError(`${error instanceof Error ? error.message : error}\n${ADVICE}`, {
      cause: error,
    });
  }
}

/**
 * Fetches the packages that are missing in the directory, verifies all of them, removes all others
 * and returns the files. Each is fetched to the workspace and then moved, so that a file in the
 * directory is complete.
 */
export async function fetchPackages(
  packages: readonly DebianPackage[],
  {
    directory,
    workspace,
    apt = OWN_APT,
  }: { directory: string; workspace: string; apt?: Apt | undefined },
): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  const wanted = new Map(packages.map(({ file, sha256 }) => [file, sha256]));
  for (const file of await readdir(directory)) {
    const place = path.join(directory, file);
    if (wanted.get(file) === (await digest(place))) wanted.delete(file);
    else await rm(place, { recursive: true });
  }
  const names = [...wanted.keys()].map((file) => nameAndVersion({ file }));
  if (names.length > 0)
    await runProgram('apt-get', ['-q', 'download', ...names], { cwd: workspace, env: apt.env });
  for (const [file, sha256] of wanted) {
    if ((await digest(path.join(workspace, file))) !== sha256) {
      throw new StartError(`The checksum of ${file} does not match apt's lists. ${ADVICE}`);
    }
    await rename(path.join(workspace, file), path.join(directory, file));
  }
  return packages.map(({ file }) => path.join(directory, file));
}

async function digest(file: string): Promise<string | undefined> {
  const content = await readFile(file).catch(() => undefined);
  return content && createHash('sha256').update(content).digest('hex');
}
