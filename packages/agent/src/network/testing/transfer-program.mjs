/**
 * Runs in a namespace and needs only Node. With a port it receives one connection, and prints how
 * many bytes arrived in how many milliseconds. With an address and a size it sends that many bytes.
 */
import { connect, createServer } from 'node:net';

const [, , port, address, bytes] = process.argv;

if (address === undefined) {
  const server = createServer((socket) => {
    let received = 0;
    let firstMs = 0;
    socket.on('data', (data) => {
      firstMs ||= performance.now();
      received += data.length;
    });
    socket.on('end', () => {
      const ms = performance.now() - firstMs;
      process.stdout.write(`${JSON.stringify({ received, ms })}\n`, () => process.exit());
    });
  });
  server.listen(Number(port), '0.0.0.0', () => process.stdout.write('ready\n'));
} else {
  const socket = connect(Number(port), address);
  socket.setTimeout(20_000, () => socket.destroy());
  socket.end(Buffer.alloc(Number(bytes)));
  socket.on('close', (failed) => process.exit(failed ? 1 : 0));
  socket.on('error', () => undefined);
  socket.resume();
}
