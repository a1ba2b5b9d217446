// Run in the network namespace of a machine: reach.mjs SOCKET PORT. What connects to the Unix socket is passed
// on to that port of the machine's loopback.
import { connect, createServer } from 'node:net';

const [socket, port] = process.argv.slice(2);

createServer((near) => {
  const far = connect(Number(port), '127.0.0.1');
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
}).listen(socket, () => process.stdout.write('ready\n'));

// The test's process holds the other end: with it goes this one.
process.stdin.on('end', () => process.exit()).resume();
