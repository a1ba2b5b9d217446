import type { CertificateAuthority } from '@gantry/pki/certificate-authority';

/**
 * The authorities that a fleet trusts. There is one, or two during a rotation:
 *
 * 1. The new authority issues the certificates of hosts. Hosts learn it with a certificate of it.
 * 2. The retiring authority still issues the certificates of schedulers, because a host that was
 *    away trusts no other. The certificates of hosts that it issued are still valid.
 * 3. When every host has a certificate of the new one, an operator withdraws the retiring one.
 *    Every host trusts the new one by then, so schedulers can use it, too.
 */
export type Authorities = {
  /** Issues the certificates of hosts. */
  issuing: CertificateAuthority;
  /** Issues the certificates of schedulers. */
  serving: CertificateAuthority;
  /** The issuing one first. */
  trusted: readonly CertificateAuthority[];
};

/** `newestFirst` has the trusted authorities. */
export function authoritiesOf(
  newestFirst: readonly [CertificateAuthority, ...CertificateAuthority[]],
): Authorities {
  const [issuing] = newestFirst;
  return { issuing, serving: newestFirst.at(-1) ?? issuing, trusted: newestFirst };
}

/** The certificates with which the other side of a connection is verified, as one PEM text. */
export const trustPem = ({ trusted }: Authorities) =>
  trusted.map(({ certificatePem }) => certificatePem).join('');

export const fingerprintsOf = ({ trusted }: Authorities) =>
  trusted.map(({ fingerprint }) => fingerprint);
