import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import type { Identity } from './identity.ts';

/**
 * A host's identity on disk: key.pem, ca.pem, host-id and certificate.pem. The certificate is
 * written last, so that after a crash the identity is complete or absent.
 *
 * A renewal may have a new key, and two files cannot be replaced atomically. The new key is written
 * to key.next.pem, then the certificate is replaced, then the key is renamed. Loading uses the key
 * that matches the certificate and completes an interrupted renewal.
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

/** Returns undefined if the host was never enrolled. */
export async function loadIdentity(stateDirectory: string): Promise<Identity | undefined> {
  const read = (name: string) => readIfThere(path.join(stateDirectory, name));
  const certificatePem = await read(FILES.certificate);
  if (certificatePem === undefined) return undefined;
  const [caPem, hostId] = [await read(FILES.ca), await read(FILES.hostId)];
  const keyPem = await fittingKey(stateDirectory, new X509Certificate(certificatePem));
  if (keyPem === undefined || caPem === undefined || hostId === undefined) {
    throw new Error(
      `${stateDirectory} has a certificate without key.pem, ca.pem or host-id: enrol this host again`,
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
