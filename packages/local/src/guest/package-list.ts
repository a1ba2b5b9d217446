/** What apt says about packages, read; no package is named here that apt did not name. */
export type DebianPackage = { file: string; sha256: string };

/** Followed from one package to the next: libraries, and the kernel a meta package stands for. */
const FOLLOWED = /^(lib|zlib|linux-(image|modules)-\d)/;

/**
 * The packages that `apt-cache depends --recurse` shows below the roots, by way of libraries and
 * kernels only: what maintainer scripts would need is not needed where none runs.
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
    // A name in angle brackets is virtual: nothing to fetch.
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

/** How apt is asked for exactly this file: name=version. */
export function nameAndVersion({ file }: Pick<DebianPackage, 'file'>): string {
  const [name = '', version = ''] = file.replaceAll('%3a', ':').split('_');
  return `${name}=${version}`;
}
