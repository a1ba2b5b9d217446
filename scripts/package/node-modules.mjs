import { cpSync, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { readText, root } from '../workspace.mjs';

/** Not needed at run time: types, and a package that counts downloads. */
const LEFT_OUT = /^(@types\/.*|undici-types|@scarf\/scarf)$/;
/** Of swagger-ui-dist only the files that packages/api/src/http/docs-page.ts serves. */
const ONLY = { 'swagger-ui-dist': ['package.json', 'swagger-ui.css', 'swagger-ui-bundle.js'] };
const UNUSED = /\.(map|ts|mts|cts|md|markdown|flow)$|(^|\/)(bin|test|tests|\.[^/]+)(\/|$)/;
const LICENCE = /^(licen[cs]e|copying|notice)/i;

/** Returns a package as a workspace package or another package sees it, with its folder and manifest. */
function findPackage(name, from) {
  for (let folder = from; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const place = path.join(folder, 'node_modules', name);
    if (existsSync(place)) return readPackage(realpathSync(place));
  }
  return undefined;
}

function readPackage(folder) {
  return { folder, manifest: JSON.parse(readText(path.join(folder, 'package.json'))) };
}

/**
 * Copies packages and what they depend on into a node_modules folder. A package goes to the top level,
 * unless another version of it is there; then it goes below the package that needs it.
 */
export function copyPackages(names, { workspacePackage, nodeModules }) {
  const from = path.join(root, 'packages', workspacePackage);
  for (const name of names) copyPackage(name, { from, places: [nodeModules] });
}

function copyPackage(name, { from, places }) {
  if (LEFT_OUT.test(name)) return;
  const found = findPackage(name, from);
  // Optional packages are those of other machines.
  if (found === undefined) return;
  const { folder, manifest } = found;
  for (const place of places.toReversed()) {
    const there = path.join(place, name, 'package.json');
    if (!existsSync(there)) continue;
    if (JSON.parse(readText(there)).version === manifest.version) return;
    break;
  }
  const place = places.find((each) => !existsSync(path.join(each, name))) ?? places.at(-1);
  const target = path.join(place, name);
  copyFiles(name, folder, target);
  const below = [...places.slice(0, places.indexOf(place) + 1), path.join(target, 'node_modules')];
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
    copyPackage(dependency, { from: folder, places: below });
}

function copyFiles(name, folder, target) {
  const only = ONLY[name];
  cpSync(folder, target, {
    recursive: true,
    filter: (source) => {
      const file = path.relative(folder, source);
      if (file === '') return true;
      if (file.split(path.sep)[0] === 'node_modules') return false;
      if (only) return only.includes(file);
      return !UNUSED.test(file) && !(LICENCE.test(file) && statSync(source).isFile());
    },
  });
}

/** Returns the licence of every package of others that a workspace package contains, sorted. */
export function collectLicences(workspacePackages) {
  const found = new Map();
  const visit = ({ folder, manifest }) => {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (LEFT_OUT.test(name)) continue;
      const next = findPackage(name, folder);
      if (next === undefined) continue;
      const key = `${name} ${next.manifest.version}`;
      if (found.has(key)) continue;
      const isOurs =
        next.folder.startsWith(path.join(root, 'packages')) ||
        next.folder === path.join(root, 'proto');
      found.set(key, isOurs ? undefined : { ...next.manifest, text: licenceText(next.folder) });
      visit(next);
    }
  };
  for (const name of workspacePackages) visit(readPackage(path.join(root, 'packages', name)));
  return [...found.values()]
    .filter((each) => each !== undefined)
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

function licenceText(folder) {
  const files = readdirSync(folder)
    .filter((file) => LICENCE.test(file))
    .sort();
  return files
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .map((file) => withoutCommonLicence(readText(path.join(folder, file)).trim()))
    .join('\n\n');
}

/** Debian has one copy of the Apache License for all packages. */
function withoutCommonLicence(text) {
  if (!/Apache License\s+Version 2\.0, January 2004/.test(text)) return text;
  const owners = text.match(/^ *Copyright (\(c\) )?\d.*$/gim) ?? [];
  return [...owners.map((line) => line.trim()), 'See /usr/share/common-licenses/Apache-2.0.'].join(
    '\n',
  );
}
