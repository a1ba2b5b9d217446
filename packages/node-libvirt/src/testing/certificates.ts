/** Certificates for libvirt over TLS, made by openssl: an authority, a server and a client. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EXTENSIONS = {
  server: 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n',
  client: 'extendedKeyUsage=clientAuth\n',
};

export type TlsIdentity = { ca: string; cert: string; key: string };

/** Writes ca.crt, and .crt and .key of server and client. Returns the client's files. */
export async function writeCertificates(directory: string): Promise<TlsIdentity> {
  const at = (name: string) => join(directory, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', [
    ...['req', '-x509', ...newKey, '-days', '1', '-subj', '/CN=authority'],
    ...['-addext', 'keyUsage=critical,keyCertSign', '-keyout', at('ca.key'), '-out', at('ca.crt')],
  ]);
  for (const name of ['server', 'client'] as const) {
    const subject = ['-subj', `/CN=${name}`, '-keyout', at(`${name}.key`)];
    await run('openssl', ['req', ...newKey, ...subject, '-out', at(`${name}.csr`)]);
    const usage =
      'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature,keyEncipherment\n';
    await writeFile(at('extensions'), usage + EXTENSIONS[name]);
    await run('openssl', [
      ...['x509', '-req', '-days', '1', '-in', at(`${name}.csr`), '-out', at(`${name}.crt`)],
      ...['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial'],
      ...['-extfile', at('extensions')],
    ]);
  }
  const [ca, cert, key] = await Promise.all(
    ['ca.crt', 'client.crt', 'client.key'].map((name) => readFile(at(name), 'utf8')),
  );
  if (!ca || !cert || !key) throw new Error('openssl wrote empty files');
  return { ca, cert, key };
}
