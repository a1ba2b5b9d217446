import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { run } from '../workspace.mjs';

const SUITE = 'stable';
const COMPONENT = 'main';

/**
 * Makes a signed apt repository of a folder, or adds packages to one. Every version that was added stays,
 * so that hosts can go back to an older one. A reader sees the old indexes or the new ones, because apt
 * fetches them by their hashes, and InRelease, which has the hashes, is replaced last.
 */
export async function writeRepository({ folder, debs, architectures, key }) {
  const pool = path.join(folder, 'pool');
  const release = path.join(folder, 'dists', SUITE);
  mkdirSync(pool, { recursive: true });
  for (const deb of debs) addToPool(deb, pool);
  for (const architecture of architectures) {
    const index = path.join(release, COMPONENT, `binary-${architecture}`);
    mkdirSync(path.join(index, 'by-hash/SHA256'), { recursive: true });
    const args = ['--arch', architecture, 'packages', 'pool'];
    writeFileSync(path.join(index, 'Packages'), await output('apt-ftparchive', args, folder));
    await output('gzip', ['-9nkf', 'Packages'], index);
    for (const name of ['Packages', 'Packages.gz']) {
      const file = path.join(index, name);
      cpSync(file, path.join(index, 'by-hash/SHA256', sha256Of(file)));
    }
  }
  await sign(release, { architectures, key });
  const exported = await output('gpg', ['--batch', '--armor', '--export', key], folder);
  writeFileSync(path.join(folder, 'gantry.asc'), exported);
}

/** A version that was published must not change, because apt on other machines has its hash. */
function addToPool(deb, pool) {
  const target = path.join(pool, path.basename(deb));
  if (!existsSync(target)) {
    cpSync(deb, `${target}.new`);
    renameSync(`${target}.new`, target);
  } else if (sha256Of(target) !== sha256Of(deb)) {
    const name = path.basename(deb);
    throw new Error(
      `${name} was published with other content. Give the new build a higher version.`,
    );
  }
}

async function sign(release, { architectures, key }) {
  const fields = {
    ...{ Origin: 'Gantry', Label: 'Gantry', Suite: SUITE, Codename: SUITE },
    ...{ Architectures: architectures.join(' '), Components: COMPONENT, 'Acquire-By-Hash': 'yes' },
  };
  const options = Object.entries(fields).flatMap(([name, value]) => [
    '-o',
    `APT::FTPArchive::Release::${name}=${value}`,
  ]);
  const text = await output('apt-ftparchive', [...options, 'release', COMPONENT], release);
  // The paths are relative to the folder of the release.
  const listed = text.replaceAll(/^( \S+ +\d+ )/gm, `$1${COMPONENT}/`);
  writeFileSync(path.join(release, 'InRelease.text'), listed);
  const signing = ['--batch', '--yes', '--local-user', key, '--clearsign'];
  await output('gpg', [...signing, '-o', 'InRelease.new', 'InRelease.text'], release);
  rmSync(path.join(release, 'InRelease.text'));
  renameSync(path.join(release, 'InRelease.new'), path.join(release, 'InRelease'));
}

function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

async function output(program, args, cwd) {
  const { ok, output: text } = await run(program, args, { quiet: true, cwd });
  if (!ok) throw new Error(`${program} ${args.join(' ')} failed:\n${text}`);
  return text;
}
