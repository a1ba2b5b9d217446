// The folders of a package import each other in one direction only, a folder holds at most 25 files,
// tests included, and a source file has at most 300 lines. The check of imports looks at one level at
// a time: the files and folders directly inside a folder must form a directed acyclic graph.
// dependency-cruiser's own folder rule misses cycles that pass through two subfolders of a folder, or
// through a file that lies beside a folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isMain, packageDirectories, root } from './workspace.mjs';

const MOST_FILES = 25;
const MOST_LINES = 300;
const GENERATED = /\/generated\//;
/** Tests may import anything, and generated code has the shape of its source. */
const IGNORED = /\.test\.ts$|\/(testing|generated)\//;
const RELATIVE_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** Returns one text per import cycle, per folder with too many files and per file that is too long. */
export function findFolderProblems() {
  const all = packageDirectories().flatMap(listFiles);
  const files = all.filter((file) => /\.tsx?$/.test(file) && !IGNORED.test(file));
  const read = (file) => readFileSync(path.join(root, file), 'utf8');
  return [...findCycles(files, read), ...findFullFolders(all), ...findLongFiles(files, read)];
}

function listFiles(directory) {
  const source = path.join(directory, 'src');
  if (!existsSync(path.join(root, source))) return [];
  return readdirSync(path.join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)));
}

export function findFullFolders(all) {
  const files = all.filter((file) => !GENERATED.test(file));
  const counts = new Map();
  for (const file of files) {
    const folder = path.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([folder, count]) => `${folder} has ${count} files, more than ${MOST_FILES}`);
}

/** `read` returns the text of a file. */
export function findLongFiles(files, read) {
  return files.flatMap((file) => {
    const lines = read(file).trimEnd().split('\n').length;
    return lines > MOST_LINES ? [`${file} has ${lines} lines, more than ${MOST_LINES}`] : [];
  });
}

/** `read` returns the text of a file. */
export function findCycles(files, read) {
  const known = new Set(files);
  /** By parent folder: entry -> imported entry -> one import between them. */
  const levels = new Map();
  for (const file of files) {
    for (const [, specifier] of read(file).matchAll(RELATIVE_IMPORT)) {
      const target = path.join(path.dirname(file), specifier);
      if (!known.has(target)) continue;
      const { parent, from, to } = entriesOf(file, target);
      const graph = levels.get(parent) ?? new Map();
      levels.set(parent, graph);
      const edges = graph.get(from) ?? new Map();
      graph.set(from, edges);
      if (!edges.has(to)) edges.set(to, `${file} imports ${target}`);
    }
  }
  return [...levels].flatMap(([parent, graph]) => cyclesIn(parent, graph));
}

/** Returns the folder that holds both files, and the entry of that folder that leads to each. */
function entriesOf(file, target) {
  const a = file.split('/');
  const b = target.split('/');
  let depth = 0;
  while (a[depth] === b[depth] && depth < a.length - 1) depth += 1;
  return { parent: a.slice(0, depth).join('/'), from: a[depth], to: b[depth] };
}

/** Returns the shortest cycle through each entry, each cycle once. */
function cyclesIn(parent, graph) {
  const problems = new Map();
  for (const start of graph.keys()) {
    const cycle = shortestCycle(graph, start);
    if (cycle === null) continue;
    const key = [...cycle].sort().join(' ');
    if (problems.has(key)) continue;
    const imports = cycle.map((entry, index) => {
      const next = cycle[(index + 1) % cycle.length];
      return `  ${graph.get(entry).get(next)}`;
    });
    const names = [...cycle, start].join(' -> ');
    problems.set(key, [`import cycle in ${parent}: ${names}`, ...imports].join('\n'));
  }
  return [...problems.values()];
}

function shortestCycle(graph, start) {
  const waiting = [[start]];
  const seen = new Set();
  for (let way = waiting.shift(); way !== undefined; way = waiting.shift()) {
    for (const next of graph.get(way.at(-1))?.keys() ?? []) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push([...way, next]);
    }
  }
  return null;
}

if (isMain(import.meta.url)) {
  const problems = findFolderProblems();
  for (const problem of problems) console.log(problem);
  process.exit(problems.length === 0 ? 0 : 1);
}
