import { describe, expect, it } from 'vitest';
import { ProtocolError } from './errors.ts';
import { REMOTE_PROGRAM } from './generated/constants.ts';
import { encodePacket, type Packet, PacketReader } from './packet.ts';

const packetOf = (serial: number, body = ''): Packet => ({
  program: REMOTE_PROGRAM,
  procedure: 59,
  type: 1,
  serial,
  status: 0,
  body: Buffer.from(body),
});

describe('packets', () => {
  it('have a header of seven words, and the length includes itself', () => {
    expect(encodePacket(packetOf(7, 'body')).toString('hex')).toBe(
      '00000020200080860000000100000' + '03b0000000100000007' + '00000000626f6479',
    );
  });

  it('are the same for every split of the bytes', () => {
    const packets = [packetOf(1), packetOf(2, 'x'.repeat(300)), packetOf(3, 'tail')];
    const bytes = Buffer.concat(packets.map(encodePacket));
    for (let size = 1; size <= bytes.length; size += 1) {
      const reader = new PacketReader();
      const seen: Packet[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        seen.push(...reader.push(bytes.subarray(at, at + size)));
      }
      expect(seen).toEqual(packets);
    }
  });

  it.each([
    ['shorter than its header', 27],
    ['longer than the limit', 33_554_437],
  ])('are refused at the length word if %s', (_name, length) => {
    const word = Buffer.alloc(4);
    word.writeUInt32BE(length);
    expect(() => new PacketReader().push(word)).toThrow(ProtocolError);
  });

  it('of another protocol version are refused', () => {
    const bytes = encodePacket(packetOf(1));
    bytes.writeUInt32BE(2, 8);
    expect(() => new PacketReader().push(bytes)).toThrow(ProtocolError);
  });

  it('are refused before sending if they exceed the limit', () => {
    const body = Buffer.alloc(33_554_432);
    expect(() => encodePacket({ ...packetOf(1), body })).toThrow(ProtocolError);
  });
});
