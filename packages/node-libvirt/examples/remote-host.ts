/** Prints the name of a host over TLS: tsx examples/remote-host.ts HOST CERTIFICATES-DIRECTORY */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node-libvirt/connect';
import { connectGetHostname } from 'node-libvirt/generated/procedures';

const [host, directory] = process.argv.slice(2);
if (!host || !directory)
  throw new Error('usage: remote-host.ts HOST DIRECTORY (with ca.crt, client.crt and client.key)');

const read = (name: string) => readFile(join(directory, name), 'utf8');
const [ca, cert, key] = [await read('ca.crt'), await read('client.crt'), await read('client.key')];
const keepalive = { intervalMs: 5_000, count: 3 };
const connection = await connect({ host, tls: { ca, cert, key }, keepalive });
process.stdout.write(`${(await connection.call(connectGetHostname)).hostname}\n`);
await connection.close();
