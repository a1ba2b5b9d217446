import { both16, both32, type Extent, RECORD_DATE, SECTOR_BYTES, ucs2 } from './iso9660-fields.ts';
import { rockRidgeFile, rockRidgeParent, rockRidgeSelf } from './rock-ridge.ts';

/** How one of the two trees of an image names the same files. */
export type Tree = {
  identifier(name: string): Buffer;
  /** What follows the identifier; the first two records are the directory and its parent. */
  systemUse: { self: Buffer; parent: Buffer; file(name: string): Buffer };
};

export type PlacedFile = { name: string; extent: Extent };

const NOTHING = Buffer.alloc(0);

/** Names of ISO 9660 level 2, with the exact names by Rock Ridge. */
export const primaryTree: Tree = {
  identifier: (name) => Buffer.from(`${primaryName(name)};1`),
  systemUse: { self: rockRidgeSelf(), parent: rockRidgeParent(), file: rockRidgeFile },
};

export const jolietTree: Tree = {
  identifier: ucs2,
  systemUse: { self: NOTHING, parent: NOTHING, file: () => NOTHING },
};

/** Upper case, only A-Z, 0-9 and _ around one dot, which is always present. */
export function primaryName(name: string): string {
  const dot = name.lastIndexOf('.');
  const [stem, suffix] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  const plain = (part: string) => part.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return `${plain(stem)}.${plain(suffix)}`;
}

/** The only directory of an image, in whole sectors. Its length does not depend on the extents. */
export function renderDirectory(
  tree: Tree,
  { extent, files }: { extent: Extent; files: readonly PlacedFile[] },
): Buffer {
  const records = files
    .map(({ name, extent: place }) => ({ name, identifier: tree.identifier(name), place }))
    .toSorted((a, b) => Buffer.compare(a.identifier, b.identifier))
    .map(({ name, identifier, place }) =>
      record({ identifier, extent: place, flags: 0, systemUse: tree.systemUse.file(name) }),
    );
  const self = directoryRecord({ extent, identifier: 0, systemUse: tree.systemUse.self });
  const parent = directoryRecord({ extent, identifier: 1, systemUse: tree.systemUse.parent });
  return packIntoSectors([self, parent, ...records]);
}

/** Also used in a volume descriptor, where nothing may follow the identifier. */
export function rootRecord(extent: Extent): Buffer {
  return directoryRecord({ extent, identifier: 0, systemUse: NOTHING });
}

function directoryRecord(of: { extent: Extent; identifier: 0 | 1; systemUse: Buffer }): Buffer {
  return record({ ...of, identifier: Buffer.of(of.identifier), flags: 2 });
}

type RecordFields = { identifier: Buffer; extent: Extent; flags: number; systemUse: Buffer };

function record({ identifier, extent, flags, systemUse }: RecordFields): Buffer {
  const body = Buffer.concat([
    both32(extent.sector),
    both32(extent.sizeBytes),
    RECORD_DATE,
    Buffer.of(flags, 0, 0),
    both16(1),
    Buffer.of(identifier.length),
    identifier,
    // Every record, and what follows the identifier, starts at an even byte.
    Buffer.alloc(identifier.length % 2 === 0 ? 1 : 0),
    systemUse,
    Buffer.alloc(systemUse.length % 2),
  ]);
  return Buffer.concat([Buffer.of(2 + body.length, 0), body]);
}

/** No record crosses a sector boundary. */
function packIntoSectors(records: readonly Buffer[]): Buffer {
  const sectors: Buffer[] = [];
  let sector: Buffer = NOTHING;
  for (const item of records) {
    if (sector.length + item.length > SECTOR_BYTES) {
      sectors.push(sector);
      sector = NOTHING;
    }
    sector = Buffer.concat([sector, item]);
  }
  sectors.push(sector);
  return Buffer.concat(sectors.map((content) => Buffer.concat([content], SECTOR_BYTES)));
}
