import { constants } from 'node:crypto';
import type { CertificateAuthority } from '@gantry/pki/certificate-authority';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import { ServerCredentials } from '@grpc/grpc-js';

/**
 * TLS credentials with a certificate of the fleet's authority, created in memory and renewed while the
 * server runs. A client certificate is requested but not required, because a new host has none; each
 * call checks its caller. The chain includes the authority, so that a host that knows only its
 * fingerprint can find it.
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
        // Gantry controls both ends. TLS 1.3 encrypts certificates.
        minVersion: 'TLSv1.3',
        // Limits how long a silent peer holds a socket.
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

  /** Renews with a third of the lifetime left, more than the clocks of hosts differ. */
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
    // Hosts keep their connection and do not resume sessions, so tickets would only cost memory.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
