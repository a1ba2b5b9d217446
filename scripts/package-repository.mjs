// npm run package:repository: makes a signed apt repository of packages, or adds packages to it.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ARCHITECTURES } from './package/pins.mjs';
import { writeRepository } from './package/repository.mjs';
import { root } from './workspace.mjs';

const USAGE = `usage: npm run package:repository -- --key KEY [option …]
  --key KEY               the key of gpg that signs, by its fingerprint or address
  --packages DIRECTORY    the packages to add (.gantry/package/debs)
  --repository DIRECTORY  the repository (.gantry/package/repository); versions in it are kept
GNUPGHOME is the directory of the key.`;

async function main() {
  const options = {
    key: { type: 'string' },
    packages: { type: 'string', default: path.join(root, '.gantry/package/debs') },
    repository: { type: 'string', default: path.join(root, '.gantry/package/repository') },
  };
  const { values } = parseArgs({ args: process.argv.slice(2), options });
  if (!values.key) throw new Error('--key must be given');
  const folder = path.resolve(values.packages);
  const debs = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  if (debs.length === 0) throw new Error(`--packages: no package is in ${folder}`);
  const repository = path.resolve(values.repository);
  await writeRepository({
    ...{ folder: repository, key: values.key, architectures: Object.keys(ARCHITECTURES) },
    debs: debs.map((name) => path.join(folder, name)),
  });
  console.log(repository);
}

try {
  await main();
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
