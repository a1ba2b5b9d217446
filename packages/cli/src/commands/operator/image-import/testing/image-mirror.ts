import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { SigningKey } from '../image-list.ts';

/** A web server on loopback whose files a test sets. */
export type ImageMirror = {
  url: string;
  /** By path. A handler can misbehave. */
  files: Map<string, Buffer | RequestListener>;
  stop(): Promise<void>;
};

export async function startImageMirror(): Promise<ImageMirror> {
  const files: ImageMirror['files'] = new Map();
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (typeof file === 'function') return file(request, response);
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A key that gpg made for the test. */
export type TestKey = {
  key: SigningKey;
  sign(content: Buffer): Buffer;
  /** The same as text, as some distributions publish it. */
  signAsText(content: Buffer): Buffer;
  remove(): void;
};

export function makeTestKey(directory: string, owner: string): TestKey {
  const home = path.join(directory, owner);
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: string[]) =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--yes', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  gpg('--passphrase', '', '--quick-gen-key', owner, 'ed25519', 'sign', 'never');
  const listed = gpg('--list-keys', '--with-colons').toString();
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
  const sign = (content: Buffer, ...args: string[]) => {
    const file = path.join(home, 'content');
    writeFileSync(file, content);
    return gpg('--output', '-', ...args, '--detach-sign', file);
  };
  return {
    key: { owner, fingerprint, base64: [gpg('--export').toString('base64')] },
    sign: (content) => sign(content),
    signAsText: (content) => sign(content, '--armor'),
    remove() {
      // gpg starts an agent for each home, which would outlive the test.
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function digest(algorithm: 'sha256' | 'sha512', content: Buffer): string {
  return createHash(algorithm).update(content).digest('hex');
}
