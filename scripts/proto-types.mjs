// npm run gen:proto: generates the TypeScript types of the gRPC messages. The check generates them
// into a temporary folder and compares.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMain, readText, root, run } from './workspace.mjs';

const generated = path.join(root, 'proto/src/generated');
const generator = path.join(root, 'proto/node_modules/.bin/proto-loader-gen-types');
const OPTIONS = [
  '--longs=String',
  '--enums=String',
  '--defaults',
  '--oneofs',
  '--grpcLib=@grpc/grpc-js',
  '--importFileExtension=.ts',
];

async function generateInto(directory) {
  const args = [...OPTIONS, '-I', '.', '-O', directory, 'gantry/v1/fleet.proto'];
  // The path of the definition is part of each generated file, so it is relative.
  const { ok, output } = await run(generator, args, { quiet: true, cwd: path.join(root, 'proto') });
  if (!ok) throw new Error(output);
}

/** Returns an empty text if the types are current, otherwise the problem. */
export async function findStaleProtoTypes() {
  const directory = mkdtempSync(path.join(tmpdir(), 'gantry-proto-'));
  try {
    await generateInto(directory);
    const fresh = contents(directory);
    const stale = [...new Set([...fresh.keys(), ...contents(generated).keys()])].filter(
      (file) => fresh.get(file) !== readText(path.join(generated, file)),
    );
    return stale.length > 0
      ? `${stale.join('\n')}\nThese files are not current. Run: npm run gen:proto`
      : '';
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function contents(directory) {
  const files = readdirSync(directory, { recursive: true }).filter((file) => file.endsWith('.ts'));
  return new Map(files.map((file) => [file, readText(path.join(directory, file))]));
}

if (isMain(import.meta.url)) {
  rmSync(generated, { recursive: true, force: true });
  await generateInto(generated);
}
