import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import type { Identity } from './identity.ts';

/**
 * A host's identity on disk: key.pem, ca.pem, host-id and certificate.pem. The certificate makes it
 * an identity and is written last, so that an agent killed at any moment has all of it or nothing.
 *
 * A renewal may bring a new key, and two files cannot be replaced at once: the new key waits as
 * key.next.pem, the certificate is replaced, and then the key takes its place. Whoever reads them
 * takes the key that fits the certificate, and finishes what was begun.
 */
const FILES = {
  key: 'key.pem',
  nextKey: 'key.next.pem',
  certificate: 'certificate.pem',
  ca: 'ca.pem',
  hostId: 'host-id',
} as const;

const PRIVATE = 0o600;
const PUBLIC = 0o644;

export async function saveIdentity(stateDirectory: string, identity: Identity): Promise<void> {
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const at = (name: string) => path.join(stateDirectory, name);
  await replaceFile(at(FILES.nextKey), identity.keyPem, PRIVATE);
  await replaceFile(at(FILES.ca), identity.caPem, PUBLIC);
  await replaceFile(at(FILES.hostId), `${identity.hostId}\n`, PUBLIC);
  await replaceFile(at(FILES.certificate), identity.certificatePem, PUBLIC);
  await rename(at(FILES.nextKey), at(FILES.key));
  await syncDirectory(stateDirectory);
}

/** Undefined where the host was never enrolled. */
export async function loadIdentity(stateDirectory: string): Promise<Identity | undefined> {
  const read = (name: string) => readIfThere(path.join(stateDirectory, name));
  const certificatePem = await read(FILES.certificate);
  if (certificatePem === undefined) return undefined;
  const [caPem, hostId] = [await read(FILES.ca), await read(FILES.hostId)];
  const keyPem = await fittingKey(stateDirectory, new X509Certificate(certificatePem));
  if (keyPem === undefined || caPem === undefined || hostId === undefined) {
    throw new Error(
      `${stateDirectory} holds a certificate without what belongs to it (key.pem, ca.pem, host-id): enrol this host again`,
    );
  }
  return { hostId: hostId.trim(), keyPem, certificatePem, caPem };
}

async function fittingKey(
  stateDirectory: string,
  certificate: X509Certificate,
): Promise<string | undefined> {
  const fits = (pem: string | undefined) =>
    pem !== undefined && certificate.checkPrivateKey(createPrivateKey(pem));
  const at = (name: string) => path.join(stateDirectory, name);
  const key = await readIfThere(at(FILES.key));
  if (fits(key)) return key;
  const next = await readIfThere(at(FILES.nextKey));
  if (!fits(next)) return undefined;
  await rename(at(FILES.nextKey), at(FILES.key));
  await syncDirectory(stateDirectory);
  return next;
}

const readIfThere = (file: string) => unlessMissing(readFile(file, 'utf8'));
