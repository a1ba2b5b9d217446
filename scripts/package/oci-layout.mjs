import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from '../workspace.mjs';

const MEDIA = 'application/vnd.oci.image';

/**
 * Writes an image as an OCI image layout: a folder with `index.json`, `oci-layout` and blobs that are named
 * by their hashes. The bytes depend on the files of the layers, `config` and `date` only: names are sorted,
 * and times and owners are set. Returns the digest of the image's manifest.
 */
export async function writeLayout({ output, layers, config, architecture, date, name }) {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(path.join(output, 'blobs/sha256'), { recursive: true });
  const written = [];
  for (const layer of layers) written.push(await writeLayer(output, { ...layer, date }));
  const created = date.toISOString();
  const image = {
    ...{ created, architecture, os: 'linux', config },
    rootfs: { type: 'layers', diff_ids: written.map(({ diffId }) => diffId) },
    history: layers.map(({ comment }) => ({
      created,
      created_by: 'npm run package:image',
      comment,
    })),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: writeJson(output, image, `${MEDIA}.config.v1+json`),
    layers: written.map(({ descriptor }) => descriptor),
  };
  const descriptor = writeJson(output, manifest, manifest.mediaType);
  const entry = {
    ...{ ...descriptor, platform: { architecture, os: 'linux' } },
    annotations: { 'org.opencontainers.image.ref.name': name },
  };
  const index = { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json`, manifests: [entry] };
  writeFileSync(path.join(output, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
  writeFileSync(path.join(output, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  return descriptor.digest;
}

/** `tar` and `gzip` are programs, because zlib's output in Node depends on the processor. */
async function writeLayer(output, { folder, date }) {
  const file = path.join(output, 'layer.tar');
  const seconds = Math.floor(date.getTime() / 1_000);
  await must('tar', [
    ...['--create', '--file', file, '--directory', folder, '--format=gnu', '--sort=name'],
    ...[`--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '.'],
  ]);
  const diffId = digestOf(readFileSync(file));
  await must('gzip', ['-9n', file]);
  return { diffId, descriptor: addBlob(output, `${file}.gz`, `${MEDIA}.layer.v1.tar+gzip`) };
}

function writeJson(output, value, mediaType) {
  const file = path.join(output, 'blob.json');
  writeFileSync(file, JSON.stringify(value));
  return addBlob(output, file, mediaType);
}

function addBlob(output, file, mediaType) {
  const digest = digestOf(readFileSync(file));
  const { size } = statSync(file);
  renameSync(file, path.join(output, 'blobs', digest.replace(':', '/')));
  return { mediaType, digest, size };
}

function digestOf(bytes) {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

async function must(program, args) {
  const { ok, output } = await run(program, args, { quiet: true });
  if (!ok) throw new Error(`${program} ${args.join(' ')} failed:\n${output}`);
}
