import { constants } from 'node:crypto';
import type { CertificateAuthority } from '@gantry/pki/certificate-authority';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import { ServerCredentials } from '@grpc/grpc-js';

/**
 * TLS with a certificate of the fleet's authority, made in memory and replaced while serving.
 * Clients are asked for a certificate and let in without one: who may call what is decided call by
 * call, because a new host has none yet. The authority is part of the chain we send, so that a host
 * that knows its fingerprint alone can find it.
 */
export class FleetCredentials extends ServerCredentials {
  readonly #authority: CertificateAuthority;
  readonly #names: readonly string[];
  readonly #ttlMs: number;
  #renewal: NodeJS.Timeout | undefined;

  constructor({
    authority,
    names,
    ttlMs,
  }: {
    authority: CertificateAuthority;
    names: readonly string[];
    ttlMs: number;
  }) {
    super(
      {
        requestCert: true,
        rejectUnauthorized: false,
        // Both ends are ours. From this version on, certificates are not sent in the clear.
        minVersion: 'TLSv1.3',
        // A peer that says nothing holds a socket no longer than this.
        handshakeTimeout: 10_000,
      },
      contextOf(authority, names, ttlMs),
    );
    this.#authority = authority;
    this.#names = names;
    this.#ttlMs = ttlMs;
    this.#renewLater();
  }

  stop(): void {
    clearTimeout(this.#renewal);
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }

  /** With a third of its life left, so that no clock of a host is late enough to see it end. */
  #renewLater(): void {
    this.#renewal = setTimeout(
      () => {
        this.updateSecureContextOptions(contextOf(this.#authority, this.#names, this.#ttlMs));
        this.#renewLater();
      },
      (this.#ttlMs * 2) / 3,
    );
    this.#renewal.unref();
  }
}

function contextOf(authority: CertificateAuthority, names: readonly string[], ttlMs: number) {
  const { chainPem, privateKeyPem } = issueServerCertificate(authority, { names, ttlMs });
  return {
    ca: authority.certificatePem,
    cert: chainPem,
    key: privateKeyPem,
    minVersion: 'TLSv1.3' as const,
    // Hosts stay, and begin anew when they come back: a ticket would cost memory with each of them.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
