import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = new URL('../../scripts/package/oci-layout.mjs', import.meta.url).href;
const { writeLayout } = await import(script);

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(path.join(tmpdir(), 'gantry-layout-'));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

/** Writes the same files at another time and in another order. */
async function make(name: string, files: string[]): Promise<string> {
  const folder = path.join(workspace, `${name}-files`);
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), file);
    chmodSync(path.join(folder, file), 0o644);
    utimesSync(path.join(folder, file), Math.random() * 1e9, Math.random() * 1e9);
  }
  const output = path.join(workspace, name);
  await writeLayout({
    ...{ output, layers: [{ folder, comment: 'all' }], config: { User: '65532:65532' } },
    ...{ architecture: 'arm64', date: new Date('2026-01-02T03:04:05Z'), name: '1.2.3' },
  });
  return output;
}

const read = (layout: string, digest: string) =>
  readFileSync(path.join(layout, 'blobs', digest.replace(':', '/')));
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

it('the index leads to a manifest, a config and layers whose digests and sizes are right', async () => {
  const layout = await make('one', ['usr/lib/gantry/node', 'etc/passwd']);
  expect(JSON.parse(readFileSync(path.join(layout, 'oci-layout'), 'utf8'))).toEqual({
    imageLayoutVersion: '1.0.0',
  });
  const index = JSON.parse(readFileSync(path.join(layout, 'index.json'), 'utf8'));
  const [entry] = index.manifests;
  expect(entry.platform).toEqual({ architecture: 'arm64', os: 'linux' });
  const manifest = JSON.parse(read(layout, entry.digest).toString());
  for (const { digest, size } of [entry, manifest.config, ...manifest.layers]) {
    expect(digestOf(read(layout, digest))).toBe(digest);
    expect(read(layout, digest)).toHaveLength(size);
  }
  const config = JSON.parse(read(layout, manifest.config.digest).toString());
  expect(config).toMatchObject({
    architecture: 'arm64',
    os: 'linux',
    config: { User: '65532:65532' },
  });
  const layers: Buffer[] = manifest.layers.map(({ digest }: { digest: string }) =>
    gunzipSync(read(layout, digest)),
  );
  expect(config.rootfs.diff_ids).toEqual(layers.map(digestOf));
  const list = execFileSync('tar', ['-tvf', '-'], { input: layers[0], encoding: 'utf8' });
  expect(list).toMatch(/-rw-r--r-- 0\/0 .* \.\/usr\/lib\/gantry\/node$/m);
});

it('two builds of the same files give the same bytes', async () => {
  const first = await make('first', ['a/b', 'c', 'd/e/f']);
  const second = await make('second', ['d/e/f', 'c', 'a/b']);
  const index = (layout: string) => readFileSync(path.join(layout, 'index.json'), 'utf8');
  expect(index(second)).toBe(index(first));
});
