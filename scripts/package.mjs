// npm run package: builds the Debian packages. See docs/operators/install.md.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { buildDeb, COMPRESSION_NAMES } from './package/build-deb.mjs';
import { PACKAGES } from './package/describe-packages.mjs';
import { keptDeb } from './package/kept-deb.mjs';
import { ARCHITECTURES } from './package/pins.mjs';
import { readReleaseDate } from './package/release-date.mjs';
import { readText, root, secondsSince } from './workspace.mjs';

const NAMES = Object.keys(ARCHITECTURES);
const USAGE = `usage: npm run package -- [option …]
  --output DIRECTORY      where the packages go (.gantry/package/debs)
  --version VERSION       a Debian version (that of package.json)
  --architecture NAME     ${NAMES.join(' or ')}; may be repeated (both)
  --compression NAME      ${COMPRESSION_NAMES.join(' or ')} (xz)
  --maintainer TEXT       the field of that name
  --fresh                 builds everything again, also what an earlier build has left
SOURCE_DATE_EPOCH is the time of all files (that of the commit).`;

const VERSION = /^\d[\w.+~]*$/;

function readOptions(args) {
  const { version } = JSON.parse(readText(path.join(root, 'package.json')));
  const options = {
    output: { type: 'string', default: path.join(root, '.gantry/package/debs') },
    version: { type: 'string', default: version },
    architecture: { type: 'string', multiple: true, default: NAMES },
    compression: { type: 'string', default: 'xz' },
    maintainer: { type: 'string', default: 'Gantry <packages@gantry.example.com>' },
    fresh: { type: 'boolean', default: false },
  };
  const { values } = parseArgs({ args, options });
  if (!VERSION.test(values.version))
    throw new Error(`--version: "${values.version}" must begin with a digit and have no hyphen`);
  const unknown = values.architecture.find((name) => !NAMES.includes(name));
  if (unknown) throw new Error(`--architecture: "${unknown}" is not ${NAMES.join(' or ')}`);
  if (!COMPRESSION_NAMES.includes(values.compression))
    throw new Error(
      `--compression: "${values.compression}" is not ${COMPRESSION_NAMES.join(' or ')}`,
    );
  return { ...values, output: path.resolve(values.output) };
}

async function main() {
  const { version, architecture, fresh, ...options } = readOptions(process.argv.slice(2));
  await ensureInstalled();
  await build({ fresh });
  mkdirSync(options.output, { recursive: true });
  const release = { version, date: await readReleaseDate() };
  for (const [name, { architectures }] of Object.entries(PACKAGES)) {
    for (const each of architectures.filter((one) => one === 'all' || architecture.includes(one))) {
      const start = performance.now();
      const target = { ...options, architecture: each };
      const make = () => buildDeb(name, { ...target, release });
      const isKept = name === 'gantry-node' && !fresh;
      const file = isKept ? await keptDeb(name, target, make) : await make();
      console.log(`${file} (${secondsSince(start).toFixed(1)} s)`);
    }
  }
}

try {
  await main();
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
