// Run inside a host's network namespace: relay.mjs PORT SOCKET. What connects to that port of the
// namespace's loopback is passed on to the Unix socket, which namespaces do not separate.
import { connect, createServer } from 'node:net';

const [port, socket] = process.argv.slice(2);

createServer((near) => {
  const far = connect(socket);
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));

// The test's process holds the other end: with it goes the relay.
process.stdin.on('end', () => process.exit()).resume();
