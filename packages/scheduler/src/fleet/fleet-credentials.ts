import { constants } from 'node:crypto';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import { ServerCredentials } from '@grpc/grpc-js';
import { type Authorities, trustPem } from './authorities.ts';

/**
 * TLS credentials with a certificate of the fleet's authority, created in memory and renewed while the
 * server runs. A client certificate is requested but not required, because a new host has none; each
 * call checks its caller. The chain includes the authority, so that a host that knows only its
 * fingerprint can find it.
 */
export class FleetCredentials extends ServerCredentials {
  readonly #authorities: () => Authorities;
  readonly #names: readonly string[];
  readonly #ttlMs: number;
  readonly #now: () => Date;
  #renewal: NodeJS.Timeout | undefined;

  constructor({ authorities, names, ttlMs, now }: Issuing & { now: () => Date }) {
    super(
      {
        requestCert: true,
        rejectUnauthorized: false,
        // Gantry controls both ends. TLS 1.3 encrypts certificates.
        minVersion: 'TLSv1.3',
        // Limits how long a silent peer holds a socket.
        handshakeTimeout: 10_000,
      },
      contextOf({ authorities, names, ttlMs }, now()),
    );
    this.#authorities = authorities;
    this.#names = names;
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#renewLater();
  }

  /** Issues a new certificate, which new connections use. */
  renew(): void {
    const issuing = { authorities: this.#authorities, names: this.#names, ttlMs: this.#ttlMs };
    this.updateSecureContextOptions(contextOf(issuing, this.#now()));
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
        this.renew();
        this.#renewLater();
      },
      (this.#ttlMs * 2) / 3,
    );
    this.#renewal.unref();
  }
}

type Issuing = { authorities: () => Authorities; names: readonly string[]; ttlMs: number };

function contextOf({ authorities, ...identity }: Issuing, now: Date) {
  const current = authorities();
  const { chainPem, privateKeyPem } = issueServerCertificate(current.serving, { ...identity, now });
  return {
    ca: trustPem(current),
    cert: chainPem,
    key: privateKeyPem,
    minVersion: 'TLSv1.3' as const,
    // Hosts keep their connection and do not resume sessions, so tickets would only cost memory.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
