/**
 * Gets libvirt's protocol definitions from the source package of the distribution this runs on
 * (Debian or Ubuntu). apt works on lists and a cache of its own below the given directory, so the
 * system's configuration and state stay as they are.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const DEFINITION_FILES = [
  'src/rpc/virnetprotocol.x',
  'src/rpc/virkeepaliveprotocol.x',
  'src/remote/remote_protocol.x',
  'src/remote/qemu_protocol.x',
] as const;

export async function fetchDefinitions(directory: string): Promise<void> {
  const folders = ['parts', 'lists/partial', 'cache/archives/partial'];
  for (const folder of folders) await mkdir(join(directory, folder), { recursive: true });
  await writeFile(join(directory, 'parts', 'source.sources'), await listSourcePackages());
  await runApt(directory, ['update']);
  await runApt(directory, ['source', '--download-only', 'libvirt']);
  const archive = (await readdir(directory)).find((name) => /\.orig\.tar\./.test(name));
  if (!archive) throw new Error('the source package of libvirt has no .orig.tar');
  const wanted = DEFINITION_FILES.map((file) => `*/${file}`);
  // Without the directories, so that the result looks like a directory of definitions given by hand.
  const flat = ['--transform', 's,.*/,,'];
  await run('tar', ['--extract', '--file', archive, ...flat, '--wildcards', ...wanted], {
    cwd: directory,
  });
}

async function runApt(directory: string, args: string[]): Promise<void> {
  const options = {
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': join(directory, 'parts'),
    'Dir::State::lists': join(directory, 'lists'),
    'Dir::Cache': join(directory, 'cache'),
    'APT::Sandbox::User': 'root',
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', [...flags, ...args], { cwd: directory });
}

/** The stanzas of the system's own sources, asking for source packages instead of binaries. */
async function listSourcePackages(): Promise<string> {
  const folder = '/etc/apt/sources.list.d';
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sources'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  if (texts.length === 0) throw new Error(`no .sources file in ${folder} says where to fetch from`);
  return texts.join('\n\n').replaceAll(/^Types:.*$/gm, 'Types: deb-src');
}
