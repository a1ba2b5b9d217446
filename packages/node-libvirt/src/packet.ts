/**
 * Packets of libvirt's remote protocol (src/rpc/virnetprotocol.x in libvirt's source): a length
 * that includes itself, a header of six words, and a body whose type depends on the procedure.
 */
import { ProtocolError } from './errors.ts';
import {
  NET_MESSAGE_LEN_MAX as LENGTH_BYTES,
  NET_MESSAGE_HEADER_MAX,
  NET_MESSAGE_MAX,
  REMOTE_PROTOCOL_VERSION,
} from './generated/constants.ts';
import { XdrDecoder, XdrEncoder } from './xdr/xdr.ts';

const HEADER_BYTES = LENGTH_BYTES + NET_MESSAGE_HEADER_MAX;
/** The largest message that libvirt sends or accepts, without the length word. */
const MAX_PACKET_BYTES = NET_MESSAGE_MAX + LENGTH_BYTES;

export type Packet = {
  program: number;
  procedure: number;
  type: number;
  /** The caller of a procedure chooses it, and the reply repeats it. Zero in an event. */
  serial: number;
  status: number;
  body: Buffer;
};

export function encodePacket(packet: Packet): Buffer {
  const length = HEADER_BYTES + packet.body.length;
  if (length > MAX_PACKET_BYTES) throw new ProtocolError(`a packet of ${length} bytes is too long`);
  const header = new XdrEncoder()
    .uint(length)
    .uint(packet.program)
    .uint(REMOTE_PROTOCOL_VERSION)
    .int(packet.procedure)
    .uint(packet.type)
    .uint(packet.serial)
    .uint(packet.status);
  if (packet.body.length === 0) return header.bytes();
  return Buffer.concat([header.bytes(), packet.body]);
}

/** Splits a byte stream into packets. It cannot be used any more after it has thrown. */
export class PacketReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** The number of bytes to wait for: a length word, then the packet of that length. */
  #needed = LENGTH_BYTES;
  #lengthKnown = false;

  push(chunk: Buffer): Packet[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const packets: Packet[] = [];
    while (this.#size >= this.#needed) {
      // Chunks are joined only when a packet is complete, so that a long packet is copied once.
      const bytes = this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : this.#join();
      if (this.#lengthKnown) {
        packets.push(decodePacket(bytes.subarray(0, this.#needed)));
        this.#keep(bytes.subarray(this.#needed));
      } else {
        this.#needed = readLength(bytes);
        this.#lengthKnown = true;
      }
    }
    return packets;
  }

  #join(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    return bytes;
  }

  #keep(rest: Buffer): void {
    this.#chunks = [rest];
    this.#size = rest.length;
    this.#needed = LENGTH_BYTES;
    this.#lengthKnown = false;
  }
}

function readLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE();
  if (length < HEADER_BYTES || length > MAX_PACKET_BYTES) {
    throw new ProtocolError(`a packet cannot be ${length} bytes long`);
  }
  return length;
}

function decodePacket(bytes: Buffer): Packet {
  const header = new XdrDecoder(bytes.subarray(LENGTH_BYTES, HEADER_BYTES));
  const program = header.uint();
  const version = header.uint();
  if (version !== REMOTE_PROTOCOL_VERSION) throw new ProtocolError(`protocol version ${version}`);
  return {
    program,
    procedure: header.int(),
    type: header.uint(),
    serial: header.uint(),
    status: header.uint(),
    body: bytes.subarray(HEADER_BYTES),
  };
}
