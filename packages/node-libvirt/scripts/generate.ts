/**
 * Writes src/generated from libvirt's protocol definitions:
 *
 *   tsx packages/node-libvirt/scripts/generate.ts [directory with the .x files]
 *
 * Without a directory it fetches libvirt's source package. The output depends only on the
 * definitions, so running it again changes nothing.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFINITION_FILES, fetchDefinitions } from './fetch-definitions.ts';
import { readProtocol } from './protocol.ts';
import { renderProtocol } from './render.ts';
import { parseXdr } from './xdr-language.ts';

const TARGET = fileURLToPath(new URL('../src/generated', import.meta.url));
const HEADER =
  "// Written by scripts/generate.ts from libvirt's protocol definitions. Do not edit.\n\n";

async function generate(directory: string): Promise<void> {
  const definitions = [];
  for (const file of DEFINITION_FILES) {
    const source = await readFile(join(directory, basename(file)), 'utf8');
    try {
      definitions.push(...parseXdr(source));
    } catch (error) {
      throw new Error(`${basename(file)}: ${error instanceof Error ? error.message : error}`);
    }
  }
  await mkdir(TARGET, { recursive: true });
  for (const [name, text] of Object.entries(renderProtocol(readProtocol(definitions)))) {
    await writeFile(join(TARGET, name), `${HEADER}${text.trimEnd()}\n`);
  }
}

const [given] = process.argv.slice(2);
if (given) {
  await generate(given);
} else {
  const directory = await mkdtemp(join(tmpdir(), 'libvirt-definitions-'));
  try {
    await fetchDefinitions(directory);
    await generate(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
