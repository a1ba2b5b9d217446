/** Opens a domain's console until it ends or Ctrl-C: tsx examples/console.ts NAME [socket] */
import { pipeline } from 'node:stream/promises';
import { connect } from 'node-libvirt/connect';
import { openConsole } from 'node-libvirt/console';
import { domainLookupByName } from 'node-libvirt/generated/procedures';

const [name, socketPath = '/run/libvirt/libvirt-sock'] = process.argv.slice(2);
if (!name) throw new Error('usage: console.ts NAME [socket]');

const connection = await connect({ socketPath });
const { dom } = await connection.call(domainLookupByName, { name });
const stream = await openConsole(connection, dom);
process.stdin.pipe(stream);
await pipeline(stream, process.stdout, { end: false });
process.stdin.destroy();
await connection.close();
