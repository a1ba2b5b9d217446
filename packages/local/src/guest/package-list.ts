/** Parsers for apt's output. All package names come from apt. */
export type DebianPackage = { file: string; sha256: string };

/** The dependencies that are followed: libraries, and the kernel behind a meta package. */
const FOLLOWED = /^(lib|zlib|linux-(image|modules)-\d)/;

/**
 * Returns the packages that `apt-cache depends --recurse` lists below the roots, following only
 * libraries and kernels. Dependencies of maintainer scripts are left out, because no script runs.
 */
export function chooseClosure(roots: readonly string[], dependsText: string): string[] {
  const depends = parseDepends(dependsText);
  const chosen = new Set<string>();
  const add = (name: string) => {
    if (chosen.has(name)) return;
    chosen.add(name);
    for (const next of depends.get(name) ?? []) if (FOLLOWED.test(next)) add(next);
  };
  for (const root of roots) add(root);
  return [...chosen].sort();
}

function parseDepends(text: string): Map<string, string[]> {
  const depends = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split('\n')) {
    const [, name] = /^(\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      current = [];
      depends.set(name, current);
    }
    // A name in angle brackets is a virtual package, which cannot be fetched.
    const [, needed] = /^ [ |](?:Pre)?Depends: ([^<\s]+)$/.exec(line) ?? [];
    if (needed !== undefined) current.push(needed);
  }
  return depends;
}

/** The lines of `apt-get download --print-uris`: 'URI' file size SHA256:digest. */
export function parseDownloads(text: string): DebianPackage[] {
  const lines = text.matchAll(/^'[^']+' (\S+) \d+ SHA256:([0-9a-f]{64})$/gm);
  return [...lines].map(([, file = '', sha256 = '']) => ({ file, sha256 }));
}

/** The argument with which apt fetches exactly this file: name=version. */
export function nameAndVersion({ file }: Pick<DebianPackage, 'file'>): string {
  const [name = '', version = ''] = file.replaceAll('%3a', ':').split('_');
  return `${name}=${version}`;
}
