import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { readText, root, run } from '../workspace.mjs';
import { PACKAGES } from './describe-packages.mjs';
import { collectLicences } from './node-modules.mjs';
import { FILL } from './package-contents.mjs';
import { place, placeText } from './place.mjs';

/** Options of dpkg-deb. The output of xz depends on the number of threads, so it uses one. lintian reads no zstd. */
const COMPRESSIONS = {
  xz: ['-Zxz', '--threads-max=1'],
  fast: ['-Zxz', '-z0', '--threads-max=1'],
};
export const COMPRESSION_NAMES = Object.keys(COMPRESSIONS);

/**
 * Builds one package for one architecture and returns its file. The bytes depend on the sources, the
 * version and `date` only: times, owners, modes and the order of files are set.
 */
export async function buildDeb(name, { architecture, output, compression, release, maintainer }) {
  const version = PACKAGES[name].version ?? release.version;
  const date = new Date(PACKAGES[name].date ?? release.date);
  const folder = mkdtempSync(path.join(output, 'building-'));
  try {
    await FILL[name]({ folder, architecture, version });
    addDocuments(folder, { name, version, date, maintainer });
    await compress(folder);
    normalize(folder);
    addControl(folder, { name, architecture, version, maintainer });
    setTimes(folder, date);
    const file = path.join(output, `${name}_${version}_${architecture}.deb`);
    const args = ['--root-owner-group', ...COMPRESSIONS[compression], '--build', folder, file];
    const env = { ...process.env, SOURCE_DATE_EPOCH: `${date.getTime() / 1_000}` };
    const built = await run('dpkg-deb', args, { quiet: true, env });
    if (!built.ok) throw new Error(`dpkg-deb failed for ${name}:\n${built.output}`);
    return file;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addDocuments(folder, { name, version, date, maintainer }) {
  const doc = `usr/share/doc/${name}`;
  const entry = [
    `${name} (${version}) stable; urgency=medium`,
    `  * Release ${version}.`,
    ` -- ${maintainer}  ${date.toUTCString().replace('GMT', '+0000')}`,
  ];
  placeText(folder, `${doc}/changelog`, `${entry.join('\n\n')}\n`);
  placeText(folder, `${doc}/copyright`, copyright(folder, name));
  const overrides = path.join(root, 'deploy/debian', name, 'lintian-overrides');
  if (existsSync(overrides)) place(folder, `usr/share/lintian/overrides/${name}`, overrides);
}

function copyright(folder, name) {
  const node = path.join(folder, 'usr/share/doc/gantry-node/LICENSE');
  const parts = [
    `Gantry\n\nCopyright 2026 the authors of Gantry\n\nLicensed under the Apache License, Version 2.0. On Debian systems its text is in\n/usr/share/common-licenses/Apache-2.0.`,
    ...collectLicences(PACKAGES[name].workspace).map(({ name: other, version, license, text }) =>
      `${other} ${version} (${license ?? 'see below'})\n\n${text}`.trimEnd(),
    ),
  ];
  if (existsSync(node)) {
    parts.push(`Node.js\n\n${readText(node).trim()}`);
    rmSync(node);
  }
  return `${parts.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

/** gzip's own output, which does not depend on the processor, as zlib's in Node does. */
async function compress(folder) {
  const files = listFiles(folder).filter((file) => /\/share\/man\/|\/changelog[^/]*$/.test(file));
  const { ok, output } = await run('gzip', ['-9n', ...files], { quiet: true });
  if (!ok) throw new Error(`gzip failed:\n${output}`);
}

const COMMANDS = /\/usr\/(s?bin\/[^/]+|lib\/gantry\/node)$/;

/** The modes do not depend on the umask. */
function normalize(folder) {
  for (const entry of listEntries(folder)) {
    const isProgram = lstatSync(entry).isDirectory() || COMMANDS.test(entry);
    chmodSync(entry, isProgram ? 0o755 : 0o644);
  }
  chmodSync(folder, 0o755);
}

function addControl(folder, { name, architecture, version, maintainer }) {
  const { depends, recommends = [], suggests = [], summary, description } = PACKAGES[name];
  const list = (field, names) => (names.length > 0 ? [`${field}: ${names.join(', ')}`] : []);
  const files = listFiles(folder);
  const control = [
    ...[`Package: ${name}`, `Version: ${version}`, `Architecture: ${architecture}`],
    ...[`Maintainer: ${maintainer}`, `Installed-Size: ${installedKib(folder)}`],
    ...list('Depends', depends(architecture)),
    ...list('Recommends', recommends),
    ...list('Suggests', suggests),
    ...['Section: admin', 'Priority: optional', `Description: ${summary}`],
    ...description.split('\n').map((line) => ` ${line}`),
  ];
  const sums = files.map((file) => {
    const sum = createHash('md5').update(readFileSync(file)).digest('hex');
    return `${sum}  ${path.relative(folder, file)}\n`;
  });
  const conffiles = files
    .map((file) => `/${path.relative(folder, file)}`)
    .filter((file) => file.startsWith('/etc/'));
  placeText(folder, 'DEBIAN/control', `${control.join('\n')}\n`);
  placeText(folder, 'DEBIAN/md5sums', sums.join(''));
  if (conffiles.length > 0) placeText(folder, 'DEBIAN/conffiles', `${conffiles.join('\n')}\n`);
  for (const script of ['preinst', 'postinst', 'prerm', 'postrm']) {
    const source = path.join(root, 'deploy/debian', name, script);
    if (existsSync(source)) place(folder, `DEBIAN/${script}`, source, 0o755);
  }
  chmodSync(path.join(folder, 'DEBIAN'), 0o755);
}

/** As dpkg-gencontrol counts: files in whole KiB, and one for everything else. */
function installedKib(folder) {
  return listEntries(folder).reduce((sum, entry) => {
    const state = lstatSync(entry);
    return sum + (state.isFile() ? Math.ceil(state.size / 1_024) : 1);
  }, 0);
}

function setTimes(folder, date) {
  for (const entry of [...listEntries(folder), folder]) utimesSync(entry, date, date);
}

function listFiles(folder) {
  return listEntries(folder).filter((entry) => lstatSync(entry).isFile());
}

/** Deepest entries last, each folder sorted by name. */
function listEntries(folder) {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const entry = path.join(folder, name);
      return lstatSync(entry).isDirectory() ? [entry, ...listEntries(entry)] : [entry];
    });
}
