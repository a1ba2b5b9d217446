/** The tokens of a flattened device tree, and the offsets of fields in its header. */
const WORD = { beginNode: 1, endNode: 2, property: 3, nothing: 4 };
const AT = { totalSize: 4, structure: 8, strings: 12, stringsSize: 32 };
const NAME = 'linux,pci-domain';

/**
 * Returns a copy of a device tree whose PCI host bridge has another domain than 0000, the only one that
 * QEMU writes. Large servers have several domains, whose numbers their devices' addresses begin with.
 */
export function withPciDomain(tree: Buffer, domain: number): Buffer {
  const strings = tree.readUInt32BE(AT.strings);
  // Without the free space that QEMU left: QEMU adds some again, and the kernel accepts 2 MiB at most.
  const packed = Buffer.from(tree.subarray(0, strings + tree.readUInt32BE(AT.stringsSize)));
  packed.writeUInt32BE(packed.length, AT.totalSize);
  packed.writeUInt32BE(domain, findValue(packed, strings));
  return packed;
}

function findValue(tree: Buffer, strings: number): number {
  for (let at = tree.readUInt32BE(AT.structure); at < strings; ) {
    const word = tree.readUInt32BE(at);
    at += 4;
    if (word === WORD.beginNode) {
      at = aligned(tree.indexOf(0, at) + 1);
    } else if (word === WORD.property) {
      const name = strings + tree.readUInt32BE(at + 4);
      if (tree.toString('latin1', name, tree.indexOf(0, name)) === NAME) return at + 8;
      at = aligned(at + 8 + tree.readUInt32BE(at));
    } else if (word !== WORD.endNode && word !== WORD.nothing) {
      break;
    }
  }
  throw new Error(`The device tree has no property ${NAME}.`);
}

const aligned = (at: number) => Math.ceil(at / 4) * 4;
