import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { decryptAge, encryptAge, FILE_KEY_BYTES, type Stanza } from './age.ts';
import { readTar, writeTar } from './tar.ts';
import { byPassphrase } from './wrap-key.ts';

/** What age 1.1.1 of Debian wrote for the text "hello, age" with this passphrase. */
const BY_AGE = [
  'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBucVJWdS9KSkkwWVNKcVVaUTlmM3pBIDE4',
  'CnV4TUNPTGhPaldPRVhJSUJ1VGtyTGkwVk5BV3plMUdMbVhNRDd0YStIRGsKLS0tIHN4d3dtTFZC',
  'a0VOTHQvYkRJTzBOdDJzZzl4Z0REU2RNdWczRXQ5dm1Fc2MKe1naXUJVYzX4oLjGW5NEhds80By7',
  'q9ipvwN3J9LmHI1e/34Z8Ae8dZcGpw==',
].join('');
const PASSPHRASE = 'correct horse battery staple';

const fileKey = Buffer.alloc(FILE_KEY_BYTES, 7);
const stanza: Stanza = { type: 'test', args: ['one'], body: Buffer.alloc(48, 1) };
const unwrap = async () => fileKey;

async function* pieces(bytes: Uint8Array, size = 1000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function all(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
const encrypted = (bytes: Uint8Array) => all(encryptAge(pieces(bytes), { fileKey, stanza }));
const decrypted = (bytes: Uint8Array) => all(decryptAge(pieces(bytes, 777), unwrap));

describe('an encrypted file', () => {
  it('of the program age is opened with its passphrase', async () => {
    const file = pieces(Buffer.from(BY_AGE, 'base64'));
    const content = await all(decryptAge(file, byPassphrase(PASSPHRASE).unwrap));
    expect(content.toString()).toBe('hello, age\n');
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 131_072])('has %d bytes again', async (size) => {
    const content = Buffer.alloc(size, 'content');
    expect(Buffer.compare(await decrypted(await encrypted(content)), content)).toBe(0);
  });

  it('that was changed or cut anywhere is refused', async () => {
    const file = await encrypted(Buffer.alloc(150_000, 'content'));
    for (const at of [0, 30, 120, 200, 300, 70_000, file.length - 1]) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(decrypted(changed), `byte ${at}`).rejects.toThrow();
      await expect(decrypted(file.subarray(0, at)), `cut at ${at}`).rejects.toThrow();
    }
    // A cut between two chunks: the last one must be marked as such.
    const head = file.length - 150_000 - 3 * 16;
    await expect(decrypted(file.subarray(0, head + 65_552))).rejects.toThrow('not complete');
    await expect(decrypted(Buffer.concat([file, Buffer.alloc(1)]))).rejects.toThrow();
  });
});

describe('an archive', () => {
  const files = [
    { name: 'manifest.json', content: Buffer.from('{}') },
    { name: 'credentials/KEY', content: Buffer.alloc(512, 'k') },
    { name: 'database/00000000', content: Buffer.alloc(0) },
  ];
  async function* entries() {
    yield* files;
  }

  it('is read as it was written, and by tar', async () => {
    const archive = await all(writeTar(entries()));
    const found = [];
    for await (const entry of readTar(pieces(archive))) found.push(entry);
    expect(found).toEqual(files);
    const listed = execFileSync('tar', ['-t'], { input: archive }).toString();
    expect(listed.trim().split('\n')).toEqual(files.map(({ name }) => name));
  });

  it('that is cut is refused', async () => {
    const archive = await all(writeTar(entries()));
    const read = async () => {
      for await (const _ of readTar(pieces(archive.subarray(0, 1200))));
    };
    await expect(read()).rejects.toThrow('not complete');
  });
});
