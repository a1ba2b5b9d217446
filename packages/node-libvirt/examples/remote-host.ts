/** The name of a host reached over TLS: tsx examples/remote-host.ts HOST DIRECTORY-WITH-CERTIFICATES */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node-libvirt/connect';
import { connectGetHostname } from 'node-libvirt/generated/procedures';

const [host, directory] = process.argv.slice(2);
if (!host || !directory)
  throw new Error('which host, and where are ca.crt, client.crt, client.key?');

const read = (name: string) => readFile(join(directory, name), 'utf8');
const [ca, cert, key] = [await read('ca.crt'), await read('client.crt'), await read('client.key')];
const keepalive = { intervalMs: 5_000, count: 3 };
const connection = await connect({ host, tls: { ca, cert, key }, keepalive });
process.stdout.write(`${(await connection.call(connectGetHostname)).hostname}\n`);
await connection.close();
