import { expect, test } from 'vitest';
import { addSections, renderUnifiedKernel } from './unified-kernel.ts';

/** A program with one section and space for more in its headers. */
function makeProgram(headersSize: number): Buffer {
  const program = Buffer.alloc(headersSize + 512);
  const at = 64;
  program.writeUInt32LE(at, 0x3c);
  program.write('PE\0\0', at, 'latin1');
  program.writeUInt16LE(1, at + 6);
  program.writeUInt16LE(240, at + 20);
  program.writeUInt32LE(4096, at + 24 + 32);
  program.writeUInt32LE(512, at + 24 + 36);
  program.writeUInt32LE(headersSize, at + 24 + 60);
  const section = at + 24 + 240;
  program.write('.text', section, 'latin1');
  program.writeUInt32LE(5000, section + 8);
  program.writeUInt32LE(4096, section + 12);
  return program;
}

function readSections(program: Buffer) {
  const at = program.readUInt32LE(0x3c);
  const first = at + 24 + program.readUInt16LE(at + 20);
  return Array.from({ length: program.readUInt16LE(at + 6) }, (_, index) => {
    const header = first + index * 40;
    const [size, address, start] = [8, 12, 20].map((field) => program.readUInt32LE(header + field));
    const name = program.toString('latin1', header, header + 8).replaceAll('\0', '');
    const content = program.toString('latin1', start, (start ?? 0) + (size ?? 0));
    return { name, address: address ?? 0, size: size ?? 0, start: start ?? 0, content };
  });
}

const parts = {
  stub: makeProgram(1024),
  kernel: Buffer.from('the kernel'),
  initramfs: Buffer.alloc(9000, 'i'),
  commandLine: 'console=ttyS0',
};

test('every part is a separate section, aligned in the file and in memory, without overlap', () => {
  const image = renderUnifiedKernel(parts);
  const sections = readSections(image);
  expect(sections.map(({ name }) => name)).toEqual([
    '.text',
    '.osrel',
    '.cmdline',
    '.initrd',
    '.linux',
  ]);
  expect(sections[2]?.content).toBe('console=ttyS0');
  expect(sections[3]?.content).toBe('i'.repeat(9000));
  expect(sections[4]?.content).toBe('the kernel');
  let end = 0;
  for (const { address, size, start } of sections) {
    expect([address % 4096, start % 512]).toEqual([0, 0]);
    expect(address).toBeGreaterThanOrEqual(end);
    end = address + size;
  }
  expect(image.readUInt32LE(64 + 24 + 56)).toBe(Math.ceil(end / 4096) * 4096);
});

test('a stub without space for the headers, and a file that is no stub, are refused', () => {
  expect(() => renderUnifiedKernel({ ...parts, stub: makeProgram(400) })).toThrow('no room');
  expect(() => addSections(Buffer.from('nothing'), [])).toThrow('Not a UEFI program');
});
