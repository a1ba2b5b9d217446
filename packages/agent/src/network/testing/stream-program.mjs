/**
 * Runs in a guest's namespace and needs only Node. Listens on a port or connects to `address:port`,
 * sends a line every few milliseconds, and prints the number of received bytes.
 */
import { connect, createServer } from 'node:net';

const EVERY_MS = 5;
const [, , where = ''] = process.argv;
const print = (count) => process.stdout.write(`${count}\n`);

function talk(socket) {
  let received = 0;
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    received += bytes.length;
    print(received);
  });
  const timer = setInterval(() => {
    // Data that cannot be sent would otherwise accumulate.
    if (socket.writableLength === 0) socket.write('still here\n');
  }, EVERY_MS);
  socket.on('close', () => clearInterval(timer));
}

const [first, port] = where.split(':');
if (port === undefined) createServer(talk).listen(Number(first), '0.0.0.0', () => print(0));
else {
  talk(connect(Number(port), first));
  print(0);
}
