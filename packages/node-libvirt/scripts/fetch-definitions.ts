/**
 * Gets libvirt's protocol definitions from the source package of this machine's distribution
 * (Debian or Ubuntu). apt uses lists and a cache in the given directory, so the system's
 * configuration and state do not change.
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
  if (!archive) throw new Error('The source package of libvirt contains no .orig.tar file.');
  const wanted = DEFINITION_FILES.map((file) => `*/${file}`);
  // Without directories, so that the result looks like a given directory of definitions.
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

/** The stanzas of the system's sources, changed to source packages instead of binaries. */
async function listSourcePackages(): Promise<string> {
  const folder = '/etc/apt/sources.list.d';
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sources'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  if (texts.length === 0) throw new Error(`No .sources file in ${folder} names a package source.`);
  return texts.join('\n\n').replaceAll(/^Types:.*$/gm, 'Types: deb-src');
}
