// Checks that the lockfile can be installed everywhere: it has no tarball URLs of one registry, and
// every native Linux package exists for both architectures, in the same version and for the same C
// library.
import path from 'node:path';
import { isMain, readText, root } from './workspace.mjs';

const CPUS = ['x64', 'arm64'];
const CPU_NAMES = /(x64|arm64|x86_64|amd64|aarch64)/;

/** Returns the problems, one line each. */
export function findLockfileProblems(text) {
  const tarballs = text
    .split('\n')
    .flatMap((line, index) =>
      /\btarball:/.test(line) ? [`line ${index + 1} has a tarball URL: ${line.trim()}`] : [],
    );
  return [...tarballs, ...findMissingTwins(parsePackages(text))];
}

/** Parses the section "packages". Entries are indented by two spaces, their members by four. */
function parsePackages(text) {
  const section = /^packages:\n([\s\S]*?)(?=^\S|(?![\s\S]))/m.exec(text)?.[1] ?? '';
  const packages = [];
  for (const line of section.split('\n')) {
    const entry = /^ {2}'?(@?[^@\s]+)@([^':\s]+)'?:/.exec(line);
    if (entry) packages.push({ name: entry[1], version: entry[2] });
    const member = /^ {4}(cpu|os|libc): \[(.*)\]/.exec(line);
    const current = packages.at(-1);
    if (member && current) current[member[1]] = member[2].split(', ');
  }
  return packages;
}

function findMissingTwins(packages) {
  const found = new Map();
  for (const { name, version, cpu, os, libc = [] } of packages) {
    if (!cpu || (os && !os.includes('linux'))) continue;
    const mine = cpu.filter((each) => CPUS.includes(each));
    if (mine.length === 0) continue;
    const family = `${name.replace(CPU_NAMES, '<cpu>')}@${version} ${libc.join(' ')}`.trim();
    found.set(family, [...(found.get(family) ?? []), ...mine]);
  }
  return [...found].flatMap(([family, cpus]) =>
    CPUS.filter((cpu) => !cpus.includes(cpu)).map((cpu) => `${family} has no linux ${cpu} package`),
  );
}

if (isMain(import.meta.url)) {
  const problems = findLockfileProblems(readText(path.join(root, 'pnpm-lock.yaml')) ?? '');
  for (const problem of problems) console.error(`pnpm-lock.yaml: ${problem}`);
  process.exit(problems.length > 0 ? 1 : 0);
}
