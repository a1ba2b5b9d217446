/** Runs in a namespace, on nothing but Node: opens sockets there and hands them to its parent. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const [port, address] = process.argv.slice(2);
const hand = (message, handle) =>
  new Promise((resolve) => process.send(message, handle, {}, resolve));

try {
  const udp = createSocket('udp4');
  udp.bind(Number(port), address);
  await once(udp, 'listening');
  const tcp = createServer();
  tcp.listen(Number(port), address);
  await once(tcp, 'listening');
  await hand({ udp: true }, udp);
  await hand({ tcp: true }, tcp);
} catch (error) {
  await hand({ failure: error.code ?? error.message });
}
process.disconnect();
process.exit(0);
