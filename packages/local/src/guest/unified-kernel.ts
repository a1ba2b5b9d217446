/**
 * A unified kernel image: systemd's UEFI stub, with the kernel, its command line and its initramfs
 * as further sections of the same program. UEFI loads one file, and nothing has to be configured.
 */
export type KernelParts = { stub: Buffer; kernel: Buffer; initramfs: Buffer; commandLine: string };

const SECTION_HEADER = 40;
/** Initialized data, readable. */
const DATA_SECTION = 0x40000040;

type Section = { name: string; content: Uint8Array };

export function renderUnifiedKernel({ stub, kernel, initramfs, commandLine }: KernelParts): Buffer {
  return addSections(stub, [
    { name: '.osrel', content: Buffer.from('ID=gantry-tiny\nNAME="Gantry tiny guest"\n') },
    { name: '.cmdline', content: Buffer.from(commandLine) },
    { name: '.initrd', content: initramfs },
    // The kernel is last, because it may be unpacked in place and overwrite what follows.
    { name: '.linux', content: kernel },
  ]);
}

/** Returns the PE program with more sections. Its checksum is cleared. */
export function addSections(program: Buffer, sections: readonly Section[]): Buffer {
  const pe = readHeaders(program);
  const headersEnd = pe.sectionsAt + (pe.sections.length + sections.length) * SECTION_HEADER;
  if (headersEnd > pe.headersSize) throw new Error('The UEFI stub has no room for more sections.');

  const image = Buffer.from(program);
  const pieces: Uint8Array[] = [image];
  let fileEnd = program.length;
  let memoryEnd = Math.max(...pe.sections.map(({ address, size }) => address + size));
  for (const [index, { name, content }] of sections.entries()) {
    const start = roundUp(fileEnd, pe.fileAlignment);
    const rawSize = roundUp(content.length, pe.fileAlignment);
    const address = roundUp(memoryEnd, pe.sectionAlignment);
    const at = pe.sectionsAt + (pe.sections.length + index) * SECTION_HEADER;
    image.fill(0, at, at + SECTION_HEADER);
    image.write(name, at, 8, 'latin1');
    image.writeUInt32LE(content.length, at + 8);
    image.writeUInt32LE(address, at + 12);
    image.writeUInt32LE(rawSize, at + 16);
    image.writeUInt32LE(start, at + 20);
    image.writeUInt32LE(DATA_SECTION, at + 36);
    pieces.push(Buffer.alloc(start - fileEnd), content, Buffer.alloc(rawSize - content.length));
    fileEnd = start + rawSize;
    memoryEnd = address + content.length;
  }
  image.writeUInt16LE(pe.sections.length + sections.length, pe.at + 6);
  image.writeUInt32LE(roundUp(memoryEnd, pe.sectionAlignment), pe.at + 24 + 56);
  image.writeUInt32LE(0, pe.at + 24 + 64);
  return Buffer.concat(pieces);
}

function readHeaders(program: Buffer) {
  const at = program.length > 64 ? program.readUInt32LE(0x3c) : program.length;
  if (program.toString('latin1', at, at + 4) !== 'PE\0\0') throw new Error('Not a UEFI program.');
  const sectionsAt = at + 24 + program.readUInt16LE(at + 20);
  const count = program.readUInt16LE(at + 6);
  const sections = Array.from({ length: count }, (_, index) => {
    const header = sectionsAt + index * SECTION_HEADER;
    return { size: program.readUInt32LE(header + 8), address: program.readUInt32LE(header + 12) };
  });
  return {
    at,
    sectionsAt,
    sections,
    sectionAlignment: program.readUInt32LE(at + 24 + 32),
    fileAlignment: program.readUInt32LE(at + 24 + 36),
    headersSize: program.readUInt32LE(at + 24 + 60),
  };
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
