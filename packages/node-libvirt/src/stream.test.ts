import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { openConsole } from './console.ts';
import { ConnectionClosedError, LibvirtError } from './errors.ts';
import { NET_MESSAGE_STATUS as STATUS, NET_MESSAGE_TYPE as TYPE } from './generated/constants.ts';
import {
  connectGetHostname,
  domainOpenConsole,
  storageVolDownload,
  storageVolUpload,
} from './generated/procedures.ts';
import { encodePacket, type Packet } from './packet.ts';
import { connectToPeer, failureOf, type Replies, type Reply, replyOf } from './testing/peer.ts';
import { downloadVolume, uploadVolume } from './volume-transfer.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connectTo(replies: Replies) {
  const connected = await connectToPeer(replies);
  cleanups.push(connected.close);
  return connected;
}

const DOMAIN = { name: 'vm', uuid: Buffer.alloc(16, 1), id: 1 };
const VOLUME = { pool: 'images', name: 'disk', key: '/images/disk' };
const EMPTY = Buffer.alloc(0);

const opened = (call: Packet) => encodePacket({ ...call, type: TYPE.reply, body: EMPTY });
const dataOf = (call: Packet, body: Buffer) =>
  encodePacket({ ...call, type: TYPE.stream, status: STATUS.continue, body });
const confirm = (call: Packet) =>
  encodePacket({ ...call, type: TYPE.stream, status: STATUS.ok, body: EMPTY });
const isFinish = ({ type, status }: Packet) => type === TYPE.stream && status === STATUS.ok;
const isAbort = ({ type, status }: Packet) => type === TYPE.stream && status === STATUS.error;

/** Accepts all packets and confirms a finish or an abort. */
const acceptAll: Reply = (packet, socket) => {
  if (packet.type === TYPE.call) socket.write(opened(packet));
  else if (packet.status !== STATUS.continue) socket.write(confirm(packet));
};

const replyHostname: Reply = (call, socket) =>
  socket.write(replyOf(connectGetHostname, call, { hostname: 'gpu-1' }));

describe('an upload', () => {
  it("sends packets within the daemon's limit, then finishes", async () => {
    const { connection, peer } = await connectTo({ [storageVolUpload.number]: acceptAll });
    const stream = await uploadVolume(connection, VOLUME);
    const content = Buffer.alloc(600_000, 'gantry');
    await pipeline([content], stream);
    const parts = peer.packets.filter(({ status }) => status === STATUS.continue);
    expect(parts.map(({ body }) => body.length)).toEqual([262_120, 262_120, 75_760]);
    expect(Buffer.concat(parts.map(({ body }) => body)).equals(content)).toBe(true);
    expect(peer.packets.at(-1)).toMatchObject({ type: TYPE.stream, status: STATUS.ok });
    expect(new Set(parts.map(({ serial }) => serial))).toEqual(new Set([3]));
  });

  it('finishes only after the daemon has confirmed it', async () => {
    const ends: Packet[] = [];
    const { connection, peer } = await connectTo({
      [storageVolUpload.number]: (packet, socket) => {
        if (packet.type === TYPE.call) socket.write(opened(packet));
        else ends.push(packet);
      },
    });
    const stream = await uploadVolume(connection, VOLUME);
    stream.end();
    await expect.poll(() => ends.length).toBe(1);
    expect(stream.writableFinished).toBe(false);
    for (const socket of peer.sockets) for (const packet of ends) socket.write(confirm(packet));
    await finished(stream);
    expect(stream.writableFinished).toBe(true);
  });

  it("fails with libvirt's error, also at the very end", async () => {
    const { connection } = await connectTo({
      [storageVolUpload.number]: (packet, socket) => {
        if (packet.type === TYPE.call) socket.write(opened(packet));
        else if (isFinish(packet)) socket.write(failureOf(packet, TYPE.stream));
      },
    });
    const stream = await uploadVolume(connection, VOLUME);
    await expect(pipeline([Buffer.from('x')], stream)).rejects.toThrow(LibvirtError);
  });
});

describe('a download', () => {
  it('delivers everything, including data in the same chunk as the reply', async () => {
    const { connection, peer } = await connectTo({
      [storageVolDownload.number]: (packet, socket) => {
        if (packet.type !== TYPE.call) return acceptAll(packet, socket);
        const bytes = [opened(packet), dataOf(packet, Buffer.from('gan')), dataOf(packet, EMPTY)];
        bytes.splice(2, 0, dataOf(packet, Buffer.from('try')));
        socket.write(Buffer.concat(bytes));
      },
    });
    const stream = await downloadVolume(connection, VOLUME);
    expect(String(await buffer(stream))).toBe('gantry');
    expect(peer.packets.filter(isFinish)).toHaveLength(1);
  });

  it('delivers data that arrives before the reply', async () => {
    const { connection } = await connectTo({
      [storageVolDownload.number]: (packet, socket) => {
        if (packet.type !== TYPE.call) return acceptAll(packet, socket);
        socket.write(dataOf(packet, Buffer.from('gan')));
        socket.write(dataOf(packet, Buffer.from('try')));
        socket.write(Buffer.concat([opened(packet), dataOf(packet, EMPTY)]));
      },
    });
    const stream = await downloadVolume(connection, VOLUME);
    expect(String(await buffer(stream))).toBe('gantry');
  });

  it('is aborted in the daemon if its call was cancelled before it opened', async () => {
    const calls: (() => void)[] = [];
    const { connection, peer } = await connectTo({
      [storageVolDownload.number]: (packet, socket) => {
        if (packet.type !== TYPE.call) return acceptAll(packet, socket);
        calls.push(() =>
          socket.write(
            Buffer.concat([dataOf(packet, EMPTY), opened(packet), dataOf(packet, EMPTY)]),
          ),
        );
      },
      [connectGetHostname.number]: replyHostname,
    });
    const attempt = downloadVolume(connection, VOLUME, { timeoutMs: 20 });
    await expect(attempt).rejects.toThrow('within 20 ms');
    await expect.poll(() => calls.length).toBe(1);
    calls[0]?.();
    await expect.poll(() => peer.packets.filter(isAbort).length).toBe(1);
    expect(await connection.call(connectGetHostname)).toEqual({ hostname: 'gpu-1' });
  });

  it('fails if libvirt fails the finish', async () => {
    const { connection } = await connectTo({
      [storageVolDownload.number]: (packet, socket) => {
        if (packet.type !== TYPE.call) socket.write(failureOf(packet, TYPE.stream));
        else socket.write(Buffer.concat([opened(packet), dataOf(packet, EMPTY)]));
      },
    });
    const stream = await downloadVolume(connection, VOLUME);
    await expect(buffer(stream)).rejects.toThrow('Domain not found');
  });

  it('blocks the connection while it is not read, and continues when it is read', async () => {
    let sent = 0;
    const part = Buffer.alloc(262_120, 1);
    const total = part.length * 64;
    const { connection, peer } = await connectTo({
      [connectGetHostname.number]: replyHostname,
      [storageVolDownload.number]: (packet, socket) => {
        if (packet.type !== TYPE.call) return acceptAll(packet, socket);
        socket.write(opened(packet));
        const send = () => {
          if (sent === total) return void socket.write(dataOf(packet, EMPTY));
          socket.write(dataOf(packet, part), () => {
            sent += part.length;
            send();
          });
        };
        send();
      },
    });
    const stream = await downloadVolume(connection, VOLUME);
    await expect.poll(() => stream.readableLength).toBeGreaterThan(1_000_000);
    // Long enough for the rest to arrive if anything were read: other peers are served.
    const other = await connect({ socketPath: peer.socketPath });
    for (let turn = 0; turn < 100; turn += 1) await other.call(connectGetHostname);
    await other.close();
    expect(stream.readableLength).toBeLessThan(total / 2);
    expect(sent).toBeLessThan(total);
    expect((await buffer(stream)).length).toBe(total);
  });
});

describe('a console', () => {
  it('carries both directions and ends with the domain', async () => {
    const { connection } = await connectTo({
      [domainOpenConsole.number]: (packet, socket) => {
        if (packet.status !== STATUS.continue) return acceptAll(packet, socket);
        socket.write(dataOf(packet, Buffer.from(`echo ${packet.body}`)));
        socket.write(dataOf(packet, EMPTY));
      },
    });
    const stream = await openConsole(connection, DOMAIN);
    stream.write('ls');
    expect(String(await buffer(stream))).toBe('echo ls');
    await finished(stream);
  });

  it('is aborted in the daemon when it is destroyed, and the connection stays usable', async () => {
    const { connection, peer } = await connectTo({
      [domainOpenConsole.number]: acceptAll,
      [connectGetHostname.number]: replyHostname,
    });
    const stream = await openConsole(connection, DOMAIN, { device: 'serial0', force: true });
    stream.destroy();
    await finished(stream).catch(() => undefined);
    await expect.poll(() => peer.packets.filter(isAbort).length).toBe(1);
    expect(await connection.call(connectGetHostname)).toEqual({ hostname: 'gpu-1' });
  });

  it('fails with its call if libvirt refuses to open it', async () => {
    const { connection } = await connectTo({
      [domainOpenConsole.number]: (call, socket) => socket.write(failureOf(call)),
    });
    await expect(openConsole(connection, DOMAIN)).rejects.toThrow(LibvirtError);
  });

  it('fails when the connection fails', async () => {
    const { connection } = await connectTo({
      [domainOpenConsole.number]: (packet, socket) => {
        socket.end(opened(packet));
      },
    });
    const stream = await openConsole(connection, DOMAIN);
    await expect(buffer(stream)).rejects.toThrow(ConnectionClosedError);
  });
});
