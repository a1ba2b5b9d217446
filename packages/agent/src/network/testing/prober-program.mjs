/**
 * Runs in a guest's namespace and needs only Node. Keeps sending numbered datagrams from a few
 * ports in rotation, receives those of others, and prints what it sent and received for every line
 * that it reads.
 */
import { createSocket } from 'node:dgram';
import { createInterface } from 'node:readline';

const SOCKETS = 8;
const { name, listen, send, everyMs } = JSON.parse(process.argv[2]);
const sent = {};
const heard = {};

const bound = (port) =>
  new Promise((resolve) => {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4_194_304 });
    socket.on('error', () => undefined);
    socket.bind(port, () => resolve(socket));
  });

for (const port of listen) {
  const socket = await bound(port);
  socket.on('message', (text) => {
    const flow = `${text}`;
    heard[flow] = (heard[flow] ?? 0) + 1;
  });
}

const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => bound(0)));
let turn = 0;
const timer = setInterval(() => {
  turn += 1;
  for (const { to, port } of send) {
    const flow = `${name} ${to} ${port}`;
    // Without a link nothing can be sent, so nothing is lost.
    sockets[turn % SOCKETS].send(flow, port, to, (error) => {
      if (!error) sent[flow] = (sent[flow] ?? 0) + 1;
    });
  }
}, everyMs);

process.stdout.write('{}\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'stop') clearInterval(timer);
  process.stdout.write(`${JSON.stringify({ sent, heard })}\n`);
}
process.exit(0);
