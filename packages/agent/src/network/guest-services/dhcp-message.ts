import { formatIpv4, parseIpv4 } from '@gantry/model/cidr';

/** DHCP packets (RFC 2131), as far as a server needs them that knows its clients. */
export type DhcpRequest = {
  kind: 'discover' | 'request' | 'inform';
  transaction: Buffer;
  /** Whether the client cannot receive packets for an address that it does not have yet. */
  broadcast: boolean;
  mac: string;
  /** The address that the client has and uses. Null: none. */
  address: string | null;
  /** The address that it requests. */
  requested: string | null;
  /** The server whose offer it accepted. */
  server: string | null;
  clientId: Buffer | null;
};

export type DhcpOption = readonly [code: number, content: Buffer];

export type DhcpReply = {
  kind: 'offer' | 'ack' | 'nak';
  /** The client's address from now on. Null: none is assigned. */
  address: string | null;
  options: readonly DhcpOption[];
};

const KINDS = { 1: 'discover', 3: 'request', 8: 'inform' } as const;
const REPLY_KINDS = { offer: 2, ack: 5, nak: 6 } as const;
const OPTION = { pad: 0, requested: 50, kind: 53, server: 54, clientId: 61, end: 255 } as const;

const COOKIE = Buffer.from([0x63, 0x82, 0x53, 0x63]);
const HEADER_BYTES = 236;
/** A relay or an old client may discard shorter packets. */
const LEAST_BYTES = 300;
const ETHERNET = 1;
const BROADCAST = 0x8000;

/** Returns null for everything that is not a request of a client on its own link. */
export function parseDhcp(packet: Buffer): DhcpRequest | null {
  if (packet.length < HEADER_BYTES + COOKIE.length) return null;
  const isEthernet = packet[1] === ETHERNET && packet[2] === 6;
  const isRelayed = packet.readUInt32BE(24) !== 0;
  if (packet[0] !== 1 || !isEthernet || isRelayed) return null;
  if (!packet.subarray(HEADER_BYTES, HEADER_BYTES + COOKIE.length).equals(COOKIE)) return null;
  const options = parseOptions(packet.subarray(HEADER_BYTES + COOKIE.length));
  const kind = KINDS[(options?.get(OPTION.kind)?.[0] ?? 0) as keyof typeof KINDS];
  if (options === null || kind === undefined) return null;
  const address = (option: number) => {
    const content = options.get(option);
    return content?.length === 4 ? formatIpv4(content.readUInt32BE(0)) : null;
  };
  const own = packet.readUInt32BE(12);
  return {
    kind,
    transaction: packet.subarray(4, 8),
    broadcast: (packet.readUInt16BE(10) & BROADCAST) !== 0,
    mac: packet
      .subarray(28, 34)
      .toString('hex')
      .replaceAll(/..(?=.)/g, '$&:'),
    address: own === 0 ? null : formatIpv4(own),
    requested: address(OPTION.requested),
    server: address(OPTION.server),
    clientId: options.get(OPTION.clientId) ?? null,
  };
}

/** Returns null if an option is cut off. If an option is repeated, the first counts. */
function parseOptions(bytes: Buffer): Map<number, Buffer> | null {
  const options = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const code = bytes[at] ?? OPTION.end;
    if (code === OPTION.end) break;
    if (code === OPTION.pad) {
      at += 1;
      continue;
    }
    const length = bytes[at + 1];
    if (length === undefined || at + 2 + length > bytes.length) return null;
    if (!options.has(code)) options.set(code, bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return options;
}

export function formatDhcp(request: DhcpRequest, reply: DhcpReply, server: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.set([2, ETHERNET, 6]);
  request.transaction.copy(header, 4);
  // A client that gets a NAK may use a wrong address and would not receive the packet there.
  header.writeUInt16BE(request.broadcast || reply.kind === 'nak' ? BROADCAST : 0, 10);
  if (reply.kind !== 'nak') header.writeUInt32BE(parseIpv4(request.address ?? '') ?? 0, 12);
  header.writeUInt32BE(parseIpv4(reply.address ?? '') ?? 0, 16);
  header.set(Buffer.from(request.mac.replaceAll(':', ''), 'hex'), 28);
  const options: DhcpOption[] = [
    [OPTION.kind, Buffer.from([REPLY_KINDS[reply.kind]])],
    [OPTION.server, ipv4Bytes([server])],
    ...reply.options,
    ...(request.clientId === null ? [] : [[OPTION.clientId, request.clientId] as const]),
  ];
  const content = options.map(([code, bytes]) =>
    Buffer.concat([Buffer.from([code, bytes.length]), bytes]),
  );
  const packet = Buffer.concat([header, COOKIE, ...content, Buffer.from([OPTION.end])]);
  return Buffer.concat([packet], Math.max(packet.length, LEAST_BYTES));
}

export function ipv4Bytes(addresses: readonly string[]): Buffer {
  const bytes = Buffer.alloc(addresses.length * 4);
  for (const [index, address] of addresses.entries()) {
    bytes.writeUInt32BE(parseIpv4(address) ?? 0, index * 4);
  }
  return bytes;
}
