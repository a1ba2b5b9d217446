/**
 * Runs in a guest's namespace, on nothing but Node: takes an order per line, answers a line each.
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

/** Answers the address that the other side saw, or why it saw none. */
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
  const answer = perform[order.do](order);
  const first = order.patienceMs ? [answer, silence(order.patienceMs)] : [answer];
  process.stdout.write(`${JSON.stringify(await Promise.race(first))}\n`);
}
process.exit(0);
