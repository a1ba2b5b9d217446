/**
 * A FAT16 file system with one file at the path that UEFI boots: EFI/BOOT/<name>. The file's
 * clusters are contiguous, so that firmware reads it quickly.
 */
export type BootFile = { name: string; content: Uint8Array };

const SECTOR = 512;
const CLUSTER = 16 * SECTOR;
const ROOT_ENTRIES = 512;
const FATS = 2;
/** Only the number of clusters decides whether a file system is FAT16. */
const CLUSTERS = { least: 4085, most: 65_524 };
const END_OF_CHAIN = 0xffff;
/** Cluster numbers start at two: "EFI", "BOOT", then the file. */
const EFI = 2;
const BOOT = 3;
const FILE = 4;

export function renderBootFilesystem({ name, content }: BootFile): Buffer {
  const fileClusters = Math.ceil(content.length / CLUSTER);
  const clusters = Math.max(CLUSTERS.least, FILE + fileClusters);
  if (clusters > CLUSTERS.most) throw new Error(`${name} is too large for a FAT16 file system.`);
  const fatSectors = Math.ceil(((clusters + 2) * 2) / SECTOR);
  const dataAt = (1 + FATS * fatSectors) * SECTOR + ROOT_ENTRIES * 32;
  const bytes = dataAt + clusters * CLUSTER;

  const disk = Buffer.alloc(bytes);
  renderBootSector({ sectors: bytes / SECTOR, fatSectors }).copy(disk);
  const fat = renderAllocation(fileClusters);
  for (let copy = 0; copy < FATS; copy++) fat.copy(disk, (1 + copy * fatSectors) * SECTOR);
  const rootAt = (1 + FATS * fatSectors) * SECTOR;
  const place = (cluster: number) => dataAt + (cluster - 2) * CLUSTER;

  directoryEntry('EFI', EFI).copy(disk, rootAt);
  renderDirectory({ self: EFI, parent: 0, entry: directoryEntry('BOOT', BOOT) }).copy(
    disk,
    place(EFI),
  );
  const entry = fileEntry({ name, cluster: FILE, size: content.length });
  renderDirectory({ self: BOOT, parent: EFI, entry }).copy(disk, place(BOOT));
  disk.set(content, place(FILE));
  return disk;
}

function renderBootSector({
  sectors,
  fatSectors,
}: {
  sectors: number;
  fatSectors: number;
}): Buffer {
  const sector = Buffer.alloc(SECTOR);
  Buffer.from([0xeb, 0x3c, 0x90]).copy(sector);
  sector.write('GANTRY  ', 3, 'latin1');
  sector.writeUInt16LE(SECTOR, 11);
  sector.writeUInt8(CLUSTER / SECTOR, 13);
  sector.writeUInt16LE(1, 14);
  sector.writeUInt8(FATS, 16);
  sector.writeUInt16LE(ROOT_ENTRIES, 17);
  sector.writeUInt16LE(sectors < 0x10000 ? sectors : 0, 19);
  sector.writeUInt8(0xf8, 21);
  sector.writeUInt16LE(fatSectors, 22);
  sector.writeUInt16LE(63, 24);
  sector.writeUInt16LE(255, 26);
  sector.writeUInt32LE(sectors < 0x10000 ? 0 : sectors, 32);
  sector.writeUInt8(0x80, 36);
  sector.writeUInt8(0x29, 38);
  sector.writeUInt32LE(0x47414e54, 39);
  sector.write('GANTRY     FAT16   ', 43, 'latin1');
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

function renderAllocation(fileClusters: number): Buffer {
  const fat = Buffer.alloc((FILE + fileClusters) * 2);
  fat.writeUInt16LE(0xfff8, 0);
  for (const cluster of [1, EFI, BOOT]) fat.writeUInt16LE(END_OF_CHAIN, cluster * 2);
  for (let index = 0; index < fileClusters; index++) {
    const next = index + 1 < fileClusters ? FILE + index + 1 : END_OF_CHAIN;
    fat.writeUInt16LE(next, (FILE + index) * 2);
  }
  return fat;
}

function renderDirectory(folder: { self: number; parent: number; entry: Buffer }): Buffer {
  return Buffer.concat([
    directoryEntry('.', folder.self),
    directoryEntry('..', folder.parent),
    folder.entry,
  ]);
}

function directoryEntry(name: string, cluster: number): Buffer {
  return renderEntry({ name: name.padEnd(11), attributes: 0x10, cluster, size: 0 });
}

function fileEntry({
  name,
  cluster,
  size,
}: {
  name: string;
  cluster: number;
  size: number;
}): Buffer {
  const [stem = '', extension = ''] = name.split('.');
  return renderEntry({
    name: stem.padEnd(8) + extension.padEnd(3),
    attributes: 0x20,
    cluster,
    size,
  });
}

type Entry = { name: string; attributes: number; cluster: number; size: number };

function renderEntry({ name, attributes, cluster, size }: Entry): Buffer {
  const entry = Buffer.alloc(32);
  entry.write(name, 0, 11, 'latin1');
  entry.writeUInt8(attributes, 11);
  // 1 January 1980, the earliest date in this format.
  entry.writeUInt16LE(0x21, 16);
  entry.writeUInt16LE(0x21, 24);
  entry.writeUInt16LE(cluster, 26);
  entry.writeUInt32LE(size, 28);
  return entry;
}
