/**
 * Runs in a guest's namespace and needs only Node. `serve PORT` accepts connections and reads from them;
 * `stream ADDRESS PORT MS` writes as fast as it can; `connect ADDRESS PORT MS` opens and resets
 * connections, several at a time; `send ADDRESS PORTS` keeps sending the time to each port; `hear PORTS`
 * keeps the first and the last received time since the last query. `serve` and `hear` print a line for
 * every line that they read; the others print one line when they are done.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

const CHUNK = Buffer.alloc(256 * 1024);
const AT_ONCE = 16;
const [, , role, ...args] = process.argv;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

async function replyWith(reply) {
  say({ ready: true });
  for await (const _ of createInterface({ input: process.stdin })) say(reply());
  process.exit(0);
}

function serve(port) {
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      bytes += data.length;
    });
  });
  server.listen({ port: Number(port), host: '0.0.0.0', backlog: 4_096 }, () =>
    replyWith(() => ({ bytes, cpuMs: cpuMs() })),
  );
}

function stream(address, port, ms) {
  const socket = connect(Number(port), address, () => {
    const begun = nowMs();
    let bytes = 0;
    const write = () => {
      if (nowMs() - begun >= Number(ms)) {
        say({ bytes: bytes - socket.writableLength, tookMs: nowMs() - begun, cpuMs: cpuMs() });
        socket.resetAndDestroy();
        return;
      }
      bytes += CHUNK.length;
      socket.write(CHUNK, write);
    };
    write();
  });
}

function connectMany(address, port, ms) {
  const begun = nowMs();
  let made = 0;
  let open = 0;
  const next = () => {
    if (nowMs() - begun >= Number(ms)) {
      if (open === 0) say({ made, tookMs: nowMs() - begun, cpuMs: cpuMs() });
      return;
    }
    open += 1;
    const socket = connect(Number(port), address, () => {
      made += 1;
      socket.resetAndDestroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open -= 1;
      next();
    });
  };
  for (let at = 0; at < AT_ONCE; at += 1) next();
}

async function send(address, ports) {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  setInterval(() => {
    for (const port of ports.split(',')) socket.send(`${nowMs()}`, Number(port), address);
  }, 1);
  await replyWith(() => ({}));
}

async function hear(ports) {
  let heard = {};
  for (const port of ports.split(',')) {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4_194_304 });
    socket.on('message', (text) => {
      const at = Number(text);
      heard[port] = { first: heard[port]?.first ?? at, last: at };
    });
    await new Promise((resolve) => socket.bind(Number(port), resolve));
  }
  await replyWith(() => {
    const reply = heard;
    heard = {};
    return reply;
  });
}

({ serve, stream, connect: connectMany, send, hear })[role](...args);
