import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { hashFiles, root } from '../workspace.mjs';

/** A package is complete if it is here, because it gets its name at the end. */
const kept = path.join(root, '.gantry/package/kept');

/**
 * Returns the file that `build` makes, or a copy of the one that it made earlier from the same sources. For the
 * runtime, which xz compresses for a minute and which changes only with its pin.
 */
export async function keptDeb(name, { architecture, compression, maintainer, output }, build) {
  const folders = ['scripts/package', path.join('deploy/debian', name)];
  const sources = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .sort()
      .map((file) => path.join(root, folder, file)),
  );
  const key = hashFiles(sources, architecture, compression, maintainer).slice(0, 16);
  const folder = path.join(kept, `${name}-${key}`);
  if (!existsSync(folder)) {
    const file = await build();
    mkdirSync(`${folder}.new-${process.pid}`, { recursive: true });
    cpSync(file, path.join(`${folder}.new-${process.pid}`, path.basename(file)));
    if (!existsSync(folder)) renameSync(`${folder}.new-${process.pid}`, folder);
    return file;
  }
  const [file] = readdirSync(folder);
  cpSync(path.join(folder, file), path.join(output, file));
  return path.join(output, file);
}
