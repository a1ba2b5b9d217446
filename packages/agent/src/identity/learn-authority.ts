import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { fingerprint, parseFingerprint } from '@gantry/pki/fingerprint';
import { EnrolmentError } from './enrolment-error.ts';

/** Long enough for a slow link, short enough for a person who waits. */
const TIMEOUT_MS = 15_000;

/**
 * Returns the fleet authority's certificate from a scheduler, given only its fingerprint. Nothing
 * is sent over this connection, and only a certificate with exactly that SHA-256 is accepted.
 */
export async function learnAuthority(address: string, expected: string): Promise<string> {
  const wanted = parseFingerprint(expected);
  if (wanted === undefined) {
    throw new EnrolmentError('bad_fingerprint', "the authority's SHA-256 must be 64 hex digits");
  }
  const chain = await readChain(address);
  const found = chain.find((raw) => fingerprint(raw) === wanted);
  if (!found) {
    throw new EnrolmentError(
      'wrong_authority',
      `${address} does not belong to the fleet with the authority ${wanted}: the join token was not sent`,
    );
  }
  const certificate = new X509Certificate(found);
  if (!certificate.ca) {
    throw new EnrolmentError('wrong_authority', `${wanted} is a certificate of no authority`);
  }
  return certificate.toString();
}

export function splitAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) {
    throw new EnrolmentError('bad_address', `"${address}" is not of the form host:port`);
  }
  return { host, port: Number(match?.[3]) };
}

async function readChain(address: string): Promise<Buffer[]> {
  const { host, port } = splitAddress(address);
  const socket = connect({
    ...{ host, port },
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // The authority is not known yet; the fingerprint is checked afterwards.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['h2'],
  });
  try {
    await secured(socket, address);
    return certificates(socket.getPeerCertificate(true));
  } finally {
    socket.destroy();
  }
}

function secured(socket: TLSSocket, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: Error) =>
      reject(
        new EnrolmentError('unreachable', `${address} could not be reached: ${why}`, { cause }),
      );
    socket.once('secureConnect', resolve);
    socket.on('error', (error) => fail(error.message, error));
    socket.setTimeout(TIMEOUT_MS, () => fail('no reply in time'));
  });
}

/** The last certificate of a complete chain is its own issuer. */
function certificates(leaf: DetailedPeerCertificate): Buffer[] {
  const raws: Buffer[] = [];
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next?.raw && !raws.some((raw) => raw.equals(next?.raw ?? Buffer.alloc(0)))) {
    raws.push(next.raw);
    next = next.issuerCertificate;
  }
  return raws;
}
