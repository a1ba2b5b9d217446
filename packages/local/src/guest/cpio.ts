/**
 * An initramfs is a cpio archive in the "newc" format. Numbers, owners and times are fixed, so that
 * the same files give the same bytes.
 */
export type CpioEntry =
  | { name: string; kind: 'directory' }
  | { name: string; kind: 'file'; content: Uint8Array; executable?: boolean }
  | { name: string; kind: 'link'; target: string };

const TRAILER = 'TRAILER!!!';

export function renderCpio(entries: readonly CpioEntry[]): Buffer {
  const parts = entries.flatMap((entry, index) =>
    renderEntry({ name: entry.name, mode: modeOf(entry), body: bodyOf(entry), number: index + 1 }),
  );
  const end = renderEntry({ name: TRAILER, mode: 0, body: Buffer.alloc(0), number: 0 });
  return Buffer.concat([...parts, ...end]);
}

function modeOf(entry: CpioEntry): number {
  if (entry.kind === 'directory') return 0o040755;
  if (entry.kind === 'link') return 0o120777;
  return entry.executable ? 0o100755 : 0o100644;
}

function bodyOf(entry: CpioEntry): Uint8Array {
  if (entry.kind === 'directory') return Buffer.alloc(0);
  return entry.kind === 'link' ? Buffer.from(entry.target) : entry.content;
}

type Raw = { name: string; mode: number; body: Uint8Array; number: number };

function renderEntry({ name, mode, body, number }: Raw): Uint8Array[] {
  const nameBytes = Buffer.from(`${name}\0`);
  const links = (mode & 0o170000) === 0o040000 ? 2 : 1;
  // inode, mode, owner, group, links, time, size, device numbers, length of the name, checksum
  const fields = [number, mode, 0, 0, links, 0, body.length, 0, 0, 0, 0, nameBytes.length, 0];
  const header = Buffer.from(`070701${fields.map(hex).join('')}`);
  return [header, nameBytes, padding(header.length + nameBytes.length), body, padding(body.length)];
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, '0');
}

function padding(length: number): Buffer {
  return Buffer.alloc((4 - (length % 4)) % 4);
}
