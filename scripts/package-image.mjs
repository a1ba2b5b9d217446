// npm run package:image: builds the OCI image of the control plane. See docs/operators/kubernetes.md.
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { fillPrograms, fillRuntime, IMAGE_CONFIG } from './package/image-contents.mjs';
import { writeLayout } from './package/oci-layout.mjs';
import { ARCHITECTURES } from './package/pins.mjs';
import { readReleaseDate } from './package/release-date.mjs';
import { readText, root, secondsSince } from './workspace.mjs';

const NAMES = Object.keys(ARCHITECTURES);
const OWN = NAMES.find((name) => ARCHITECTURES[name].node === process.arch);
const USAGE = `usage: npm run package:image -- [option …]
  --output DIRECTORY      where the image goes, as an OCI image layout (.gantry/package/image)
  --version VERSION       the name of the image in its index (that of package.json)
  --architecture NAME     ${NAMES.join(' or ')} (that of this machine)
  --base DIRECTORY        a root of Debian whose C library the image gets (/)
SOURCE_DATE_EPOCH is the time of all files (that of the commit).`;

function readOptions(args) {
  const { version } = JSON.parse(readText(path.join(root, 'package.json')));
  const options = {
    output: { type: 'string', default: path.join(root, '.gantry/package/image') },
    version: { type: 'string', default: version },
    architecture: { type: 'string', default: OWN },
    base: { type: 'string' },
  };
  const { values } = parseArgs({ args, options });
  const { architecture } = values;
  if (!NAMES.includes(architecture))
    throw new Error(`--architecture: "${architecture}" is not ${NAMES.join(' or ')}`);
  if (!/^[\w.-]+$/.test(values.version))
    throw new Error(`--version: "${values.version}" may have letters, digits, points and hyphens`);
  if (values.base === undefined && architecture !== OWN)
    throw new Error(
      `--base: this machine has no C library for ${architecture}; give a root of Debian`,
    );
  return { base: '/', ...values, output: path.resolve(values.output) };
}

/** The modes do not depend on the umask. */
function normalize(folder) {
  for (const name of readdirSync(folder)) {
    const entry = path.join(folder, name);
    const state = lstatSync(entry);
    if (state.isSymbolicLink()) continue;
    if (state.isDirectory()) normalize(entry);
    const isProgram = state.isDirectory() || (state.mode & 0o100) !== 0;
    if ((state.mode & 0o1000) === 0) chmodSync(entry, isProgram ? 0o755 : 0o644);
  }
  if ((lstatSync(folder).mode & 0o1000) === 0) chmodSync(folder, 0o755);
}

async function main() {
  const start = performance.now();
  const { output, version, architecture, base } = readOptions(process.argv.slice(2));
  await ensureInstalled();
  await build();
  mkdirSync(path.dirname(output), { recursive: true });
  const workspace = mkdtempSync(path.join(path.dirname(output), 'building-'));
  try {
    const [runtime, programs] = ['runtime', 'programs'].map((name) => path.join(workspace, name));
    await fillRuntime(runtime, { architecture, base });
    await fillPrograms(programs, { architecture, version });
    for (const folder of [runtime, programs]) normalize(folder);
    const layers = [
      { folder: runtime, comment: 'Node and the C library' },
      { folder: programs, comment: 'api, scheduler and console' },
    ];
    const labels = { ...IMAGE_CONFIG.Labels, 'org.opencontainers.image.version': version };
    const config = { ...IMAGE_CONFIG, Labels: labels };
    const date = new Date(await readReleaseDate());
    const digest = await writeLayout({ output, layers, config, architecture, date, name: version });
    console.log(`${output} ${digest} (${secondsSince(start).toFixed(1)} s)`);
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
