/** The fields of ECMA-119 structures. Numbers are written in both byte orders. */
export const SECTOR_BYTES = 2048;

export type Extent = { sector: number; sizeBytes: number };

export function both16(value: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt16LE(value, 0);
  field.writeUInt16BE(value, 2);
  return field;
}

export function both32(value: number): Buffer {
  const field = Buffer.alloc(8);
  field.writeUInt32LE(value, 0);
  field.writeUInt32BE(value, 4);
  return field;
}

export function little32(value: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32LE(value);
  return field;
}

export function big32(value: number): Buffer {
  return little32(value).swap32();
}

/** Joliet's text encoding. */
export function ucs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

export function sectorsOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / SECTOR_BYTES);
}

export function padToSector(content: Uint8Array): Buffer {
  return Buffer.concat([content], sectorsOf(content.length) * SECTOR_BYTES);
}

/**
 * A fixed time for every image, so that the same files give the same bytes: 1 January 2000, UTC.
 */
export const RECORD_DATE = Buffer.from([100, 1, 1, 0, 0, 0, 0]);
export const VOLUME_DATE = Buffer.from(`${'2000010100000000'}\0`, 'latin1');
export const NO_DATE = Buffer.from(`${'0'.repeat(16)}\0`, 'latin1');
