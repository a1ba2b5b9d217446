import { rootRecord } from './iso9660-directory.ts';
import {
  big32,
  both16,
  both32,
  type Extent,
  little32,
  NO_DATE,
  SECTOR_BYTES,
  ucs2,
  VOLUME_DATE,
} from './iso9660-fields.ts';

export type VolumeFields = {
  label: string;
  sectors: number;
  root: Extent;
  pathTables: { sizeBytes: number; little: number; big: number };
};

export function primaryDescriptor(volume: VolumeFields): Buffer {
  const text = (value: string, length: number) => Buffer.from(value.padEnd(length));
  return volumeDescriptor({ type: 1, encoding: '', text }, volume);
}

/**
 * "%/E" stands for UCS-2, Joliet's level 3. The descriptor is otherwise equal to the primary one.
 */
export function jolietDescriptor(volume: VolumeFields): Buffer {
  const text = (value: string, length: number) =>
    Buffer.concat([ucs2(value.padEnd(Math.floor(length / 2)))], length);
  return volumeDescriptor({ type: 2, encoding: '%/E', text }, volume);
}

export function endOfDescriptors(): Buffer {
  return Buffer.concat([Buffer.from('\xffCD001\x01', 'latin1')], SECTOR_BYTES);
}

/** Contains only the root, because an image has no other directory. */
export function pathTable(rootSector: Buffer, parent: Buffer): Buffer {
  return Buffer.concat([Buffer.of(1, 0), rootSector, parent, Buffer.of(0, 0)]);
}

type Variant = { type: number; encoding: string; text(value: string, length: number): Buffer };

function volumeDescriptor({ type, encoding, text }: Variant, volume: VolumeFields): Buffer {
  const { pathTables } = volume;
  const content = Buffer.concat([
    Buffer.of(type),
    Buffer.from('CD001'),
    Buffer.of(1, 0),
    text('', 32), // system
    text(volume.label, 32),
    Buffer.alloc(8),
    both32(volume.sectors),
    Buffer.concat([Buffer.from(encoding)], 32),
    both16(1), // volumes in the set
    both16(1), // which of them
    both16(SECTOR_BYTES),
    both32(pathTables.sizeBytes),
    little32(pathTables.little),
    little32(0),
    big32(pathTables.big),
    big32(0),
    rootRecord(volume.root),
    text('', 128), // volume set
    text('', 128), // publisher
    text('', 128), // preparer
    text('GANTRY', 128), // application
    text('', 37), // copyright file
    text('', 37), // abstract file
    text('', 37), // bibliography file
    VOLUME_DATE, // made
    VOLUME_DATE, // changed
    NO_DATE, // expires
    NO_DATE, // in force from
    Buffer.of(1, 0), // version of this structure
  ]);
  return Buffer.concat([content], SECTOR_BYTES);
}
