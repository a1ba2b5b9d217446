import type { DhcpOption } from '../dhcp-message.ts';

type Packet = {
  kind: number;
  mac: string;
  flags: number;
  /** The address that the client has. */
  address: string;
  options: readonly DhcpOption[];
  /** The number of bytes cut off at its end. */
  cut: number;
};

/** Returns a client's packet as it is on the wire. */
export function makeDhcpPacket(packet: Partial<Packet> = {}): Buffer {
  const { kind = 1, flags = 0, address = '0.0.0.0', options = [], cut = 0 } = packet;
  const { mac = '02:00:00:00:00:01' } = packet;
  const header = Buffer.alloc(236);
  header.set([1, 1, 6, 0, 1, 2, 3, 4]);
  header.writeUInt16BE(flags, 10);
  header.set(address.split('.').map(Number), 12);
  header.set(Buffer.from(mac.replaceAll(':', ''), 'hex'), 28);
  const cookie = Buffer.from([0x63, 0x82, 0x53, 0x63]);
  const content = [[53, Buffer.from([kind])] as const, ...options].map(([code, bytes]) =>
    code === 0 ? Buffer.from([0]) : Buffer.concat([Buffer.from([code, bytes.length]), bytes]),
  );
  const whole = Buffer.concat([header, cookie, ...content, Buffer.from([255])]);
  return whole.subarray(0, whole.length - cut);
}
