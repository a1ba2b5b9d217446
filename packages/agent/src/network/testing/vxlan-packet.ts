import { tunnelMac } from '../kernel/names.ts';
import type { Guest } from './guest.ts';

export type Forgery = { vni: number; to: string; innerSource: string; innerDestination: string };

/** The inner destination port of forged packets. */
export const FORGED_PORT = 9;

/** Sends a hand-made VXLAN packet from the namespace's own address. */
export async function sendForged(from: Guest, { vni, to, innerSource, innerDestination }: Forgery) {
  const mac = (text: string) => Buffer.from(text.replaceAll(':', ''), 'hex');
  const address = (text: string) => Buffer.from(text.split('.').map(Number));
  const vxlan = Buffer.from([8, 0, 0, 0, vni >> 16, vni >> 8, vni, 0]);
  const ethernet = Buffer.concat([
    ...[mac(tunnelMac(vni, to)), mac('02:00:00:00:00:99'), Buffer.from([8, 0])],
  ]);
  const udp = Buffer.from([0, FORGED_PORT, 0, FORGED_PORT, 0, 9, 0, 0, 1]);
  const ip = Buffer.concat([
    Buffer.from([0x45, 0, 0, 20 + udp.length, 0, 1, 0, 0, 64, 17, 0, 0]),
    ...[address(innerSource), address(innerDestination)],
  ]);
  ip.writeUInt16BE(checksum(ip), 10);
  const packet = Buffer.concat([vxlan, ethernet, ip, udp]).toString('hex');
  const program = `const s = require('dgram').createSocket('udp4');
    s.send(Buffer.from('${packet}', 'hex'), 4789, '${to}', () => s.close());`;
  await from.run(process.execPath, '-e', program);
}

function checksum(header: Buffer): number {
  let sum = 0;
  for (let offset = 0; offset < header.length; offset += 2) sum += header.readUInt16BE(offset);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}
