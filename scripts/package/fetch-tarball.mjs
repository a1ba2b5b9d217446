import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { root, run } from '../workspace.mjs';

/** Downloads are kept here. A file gets its name after its hash was checked. */
const cache = path.join(root, '.gantry/package/tarballs');

/** Returns the file of a package of the npm registry. Throws if its bytes are not the pinned ones. */
export async function fetchTarball({ name, version, integrity }) {
  const file = path.join(cache, `${name.replace('/', '+')}-${version}.tgz`);
  if (existsSync(file) && integrityOf(file) === integrity) return file;
  mkdirSync(cache, { recursive: true });
  const workspace = mkdtempSync(path.join(cache, 'fetching-'));
  try {
    const options = { quiet: true, cwd: workspace };
    const { ok, output } = await run('npm', ['pack', '--silent', `${name}@${version}`], options);
    if (!ok) throw new Error(`npm pack ${name}@${version} failed:\n${output}`);
    const [packed] = readdirSync(workspace);
    const found = integrityOf(path.join(workspace, packed));
    if (found !== integrity)
      throw new Error(`${name}@${version} has the hash ${found}, not the pinned ${integrity}`);
    renameSync(path.join(workspace, packed), file);
    return file;
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

function integrityOf(file) {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}
