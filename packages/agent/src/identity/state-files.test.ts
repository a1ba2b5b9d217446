import { createPrivateKey, X509Certificate } from 'node:crypto';
import files, { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import { makePrivateKey, privateKeyPem, publicKeyOf } from '@gantry/pki/keys';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Identity } from './identity.ts';
import { retryDelayMs, untilDueMs } from './renew-when-due.ts';
import { loadIdentity, saveIdentity } from './state-files.ts';

/** The process is killed when it has made this many steps. */
let stepsLeft = Number.POSITIVE_INFINITY;
const step =
  <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
  async (...args: Args) => {
    if (stepsLeft <= 0) throw new Error('killed');
    stepsLeft -= 1;
    return await run(...args);
  };
beforeAll(() => {
  const { rename, open } = files;
  vi.spyOn(files, 'rename').mockImplementation(step(rename));
  vi.spyOn(files, 'open').mockImplementation(step(open));
  // Modules that import the functions by name get them, too.
  syncBuiltinESMExports();
});
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const HOST_ID = '01990000-0000-7000-8000-00000000abcd';
const HOUR_MS = 3_600_000;
const authority = loadAuthority(makeAuthority());

function makeIdentity(now = new Date()): Identity {
  const key = makePrivateKey();
  const { pem } = issueHostCertificate(authority, {
    ...{ hostId: HOST_ID, publicKey: publicKeyOf(key), ttlMs: 30 * HOUR_MS, now },
  });
  return {
    ...{ hostId: HOST_ID, keyPem: privateKeyPem(key), certificatePem: pem },
    caPem: authority.certificatePem,
  };
}

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-state-'));
});
afterEach(async () => {
  stepsLeft = Number.POSITIVE_INFINITY;
  await rm(directory, { recursive: true, force: true });
});

/** Saves until it is killed. Returns true if it was not killed. */
async function saveUpTo(count: number, identity: Identity): Promise<boolean> {
  stepsLeft = count;
  try {
    await saveIdentity(directory, identity);
    return true;
  } catch (error) {
    expect(error).toHaveProperty('message', 'killed');
    return false;
  } finally {
    stepsLeft = Number.POSITIVE_INFINITY;
  }
}

const fits = ({ certificatePem, keyPem }: Identity) =>
  new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem));

describe('an identity on disk', () => {
  it('does not exist before a host is enrolled', async () => {
    expect(await loadIdentity(directory)).toBe(undefined);
    expect(await loadIdentity(path.join(directory, 'none'))).toBe(undefined);
  });

  it('is complete or absent, wherever the first save is interrupted', async () => {
    const identity = makeIdentity();
    const seen = new Set<string>();
    for (let count = 0; ; count += 1) {
      await rm(directory, { recursive: true, force: true });
      const done = await saveUpTo(count, identity);
      const loaded = await loadIdentity(directory);
      seen.add(loaded ? 'whole' : 'nothing');
      if (loaded) expect(loaded).toEqual(identity);
      if (done) break;
    }
    expect(seen).toEqual(new Set(['nothing', 'whole']));
    expect((await stat(path.join(directory, 'key.pem'))).mode & 0o777).toBe(0o600);
  });

  it('is the old or the new one, wherever a renewal with a new key is interrupted', async () => {
    const [old, renewed] = [makeIdentity(), makeIdentity()];
    const seen = new Set<string>();
    for (let count = 0; ; count += 1) {
      await saveIdentity(directory, old);
      const done = await saveUpTo(count, renewed);
      const loaded = await loadIdentity(directory);
      if (!loaded) throw new Error('it was lost');
      expect(fits(loaded)).toBe(true);
      expect([old.certificatePem, renewed.certificatePem]).toContain(loaded.certificatePem);
      expect(await loadIdentity(directory)).toEqual(loaded);
      seen.add(loaded.certificatePem);
      if (done) break;
    }
    expect(seen.size).toBe(2);
  });

  it('is refused, with what to do, if a part of it is missing', async () => {
    await saveIdentity(directory, makeIdentity());
    await writeFile(path.join(directory, 'key.pem'), makeIdentity().keyPem);
    await expect(loadIdentity(directory)).rejects.toThrow('enrol this host again');
  });
});

describe('renewal', () => {
  it('is due after two thirds of a certificate’s lifetime', () => {
    const now = new Date('2026-11-15T00:00:00Z');
    const identity = makeIdentity(now);
    expect(untilDueMs(identity, now.getTime())).toBe(20 * HOUR_MS);
    expect(untilDueMs(identity, now.getTime() + 21 * HOUR_MS)).toBe(0);
  });

  it('is retried with growing pauses of at most five minutes, and with jitter', () => {
    expect([1, 2, 3, 4].map((failures) => retryDelayMs(failures, 1))).toEqual([
      1_000, 2_000, 4_000, 8_000,
    ]);
    expect(retryDelayMs(4, 0)).toBe(4_000);
    expect(retryDelayMs(500, 1)).toBe(300_000);
  });
});
