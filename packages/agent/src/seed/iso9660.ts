/**
 * Writes ISO 9660 images of one flat directory, with the files' exact names in Joliet and Rock Ridge.
 * It is a pure function: equal files give equal bytes.
 *
 *   sectors 0-15   the system area, empty
 *   16, 17, 18     primary descriptor, Joliet's, end
 *   19-22          path tables: primary little and big endian, Joliet's
 *   23-            primary directory, Joliet's directory, then the files, which both share
 */
import {
  endOfDescriptors,
  jolietDescriptor,
  pathTable,
  primaryDescriptor,
} from './iso9660-descriptor.ts';
import {
  jolietTree,
  type PlacedFile,
  primaryName,
  primaryTree,
  renderDirectory,
  type Tree,
} from './iso9660-directory.ts';
import {
  big32,
  type Extent,
  little32,
  padToSector,
  SECTOR_BYTES,
  sectorsOf,
} from './iso9660-fields.ts';

export type IsoFile = { name: string; content: Uint8Array };

const SYSTEM_AREA_SECTORS = 16;
const PRIMARY_TABLES = { sizeBytes: 10, little: 19, big: 20 };
const JOLIET_TABLES = { sizeBytes: 10, little: 21, big: 22 };
const FIRST_FREE_SECTOR = 23;

/** Labels have at most 16 characters and names at most 29, because all trees can hold these. */
export function renderIso9660(image: { label: string; files: readonly IsoFile[] }): Buffer {
  requireFitting(image);
  const { label, files } = image;
  const primaryRoot = extentOfDirectory(primaryTree, { files, sector: FIRST_FREE_SECTOR });
  const jolietRoot = extentOfDirectory(jolietTree, { files, sector: endOf(primaryRoot) });
  const placed = placeFiles(files, endOf(jolietRoot));
  const sectors = placed.reduce(
    (end, { extent }) => Math.max(end, endOf(extent)),
    endOf(jolietRoot),
  );

  return Buffer.concat([
    Buffer.alloc(SYSTEM_AREA_SECTORS * SECTOR_BYTES),
    primaryDescriptor({ label, sectors, root: primaryRoot, pathTables: PRIMARY_TABLES }),
    jolietDescriptor({ label, sectors, root: jolietRoot, pathTables: JOLIET_TABLES }),
    endOfDescriptors(),
    ...renderPathTables(primaryRoot),
    ...renderPathTables(jolietRoot),
    renderDirectory(primaryTree, { extent: primaryRoot, files: placed }),
    renderDirectory(jolietTree, { extent: jolietRoot, files: placed }),
    ...files.map(({ content }) => padToSector(content)),
  ]);
}

function requireFitting({ label, files }: { label: string; files: readonly IsoFile[] }): void {
  if (!/^[\w-]{1,16}$/.test(label)) throw new Error(`BUG: "${label}" is no label of a volume`);
  const bad = files.find(({ name }) => !/^[A-Za-z0-9][\w.-]{0,28}$/.test(name));
  if (bad) throw new Error(`BUG: "${bad.name}" is no name for a file of an image`);
  if (new Set(files.map(({ name }) => primaryName(name))).size < files.length) {
    throw new Error('BUG: two files of an image have the same name in capitals');
  }
}

function extentOfDirectory(
  tree: Tree,
  { files, sector }: { files: readonly IsoFile[]; sector: number },
): Extent {
  const nowhere = { sector: 0, sizeBytes: 0 };
  const unplaced = files.map(({ name }) => ({ name, extent: nowhere }));
  const { length } = renderDirectory(tree, { extent: nowhere, files: unplaced });
  return { sector, sizeBytes: length };
}

/** The files are stored one after the other; an empty file has an extent of length zero. */
function placeFiles(files: readonly IsoFile[], firstSector: number): PlacedFile[] {
  let sector = firstSector;
  return files.map(({ name, content }) => {
    const extent = { sector, sizeBytes: content.length };
    sector = endOf(extent);
    return { name, extent };
  });
}

function endOf(extent: Extent): number {
  return extent.sector + sectorsOf(extent.sizeBytes);
}

function renderPathTables({ sector }: Extent): Buffer[] {
  return [
    padToSector(pathTable(little32(sector), Buffer.of(1, 0))),
    padToSector(pathTable(big32(sector), Buffer.of(0, 1))),
  ];
}
