/**
 * Runs in a guest's namespace, on nothing but Node: sends numbered datagrams without end, each from
 * the next of a few ports, hears those of others, and tells a line of what it sent and heard for every
 * line it reads. The line "stop" ends the sending.
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
    // Without a link there is no way to send, and nothing is lost.
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
