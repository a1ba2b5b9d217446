/**
 * Runs in a guest's namespace and needs only Node: reads one command per line and prints one line for each.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

const open = { socket: null };

const silence = (patienceMs) =>
  new Promise((resolve) => setTimeout(resolve, patienceMs, 'silence'));

const listen = ({ protocol, port }) =>
  new Promise((resolve) => {
    const ready = () => resolve('ready');
    if (protocol === 'udp') {
      const socket = createSocket('udp4');
      socket.on('message', (_, from) => socket.send(from.address, from.port, from.address));
      socket.bind(port, ready);
      return;
    }
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(socket.remoteAddress));
    });
    server.listen(port, '0.0.0.0', ready);
  });

/** Returns the address that the other side saw, or why it saw none. */
const ask = ({ protocol, address, port, sourcePort, sourceAddress, text: asked = '?' }) =>
  new Promise((resolve) => {
    if (protocol === 'udp') {
      const socket = createSocket('udp4');
      socket.on('error', (error) => resolve(error.message));
      socket.on('message', (text) => resolve(`${text}`));
      socket.bind(sourcePort, sourceAddress, () => socket.send(asked, port, address));
      return;
    }
    open.socket?.destroy();
    open.socket = connect({
      host: address,
      port,
      localPort: sourcePort,
      localAddress: sourceAddress,
    });
    open.socket.on('error', (error) => resolve(error.message));
    open.socket.on('connect', () => open.socket.write(asked));
    open.socket.once('data', (text) => resolve(`${text}`));
  });

/** Asks once more over the connection that was opened last. */
const askAgain = () =>
  new Promise((resolve) => {
    open.socket.once('data', (text) => resolve(`${text}`));
    open.socket.write('?');
  });

const perform = { listen, ask, 'ask-again': askAgain };
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  const reply = perform[order.do](order);
  const first = order.patienceMs ? [reply, silence(order.patienceMs)] : [reply];
  process.stdout.write(`${JSON.stringify(await Promise.race(first))}\n`);
}
process.exit(0);
