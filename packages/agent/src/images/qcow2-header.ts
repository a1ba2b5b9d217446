/** The header of QEMU's disk format (QEMU's docs/interop/qcow2.txt). */
export type Qcow2Header = {
  virtualSizeBytes: number;
  /** The offset of the backing file's name in the file. Null: there is no backing file. */
  backingName: { offset: number; length: number } | null;
  /** Whether the data is in another file. */
  hasDataFile: boolean;
  isEncrypted: boolean;
};

export const QCOW2_MAGIC = 0x51_46_49_fb;
/** Enough for all fields that are read here, in both versions. */
export const QCOW2_HEADER_BYTES = 104;
const DATA_FILE_BIT = 2;

export function isQcow2(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32BE(0) === QCOW2_MAGIC;
}

export function parseQcow2Header(bytes: Buffer): Qcow2Header {
  if (!isQcow2(bytes) || bytes.length < 72) throw new Error('it is not a qcow2 file');
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw new Error(`it is qcow2 of version ${version}`);
  if (version === 3 && bytes.length < QCOW2_HEADER_BYTES) throw new Error('its header is cut off');
  const virtualSizeBytes = Number(bytes.readBigUInt64BE(24));
  if (virtualSizeBytes === 0 || !Number.isSafeInteger(virtualSizeBytes)) {
    throw new Error('its header contains an impossible size');
  }
  const offset = Number(bytes.readBigUInt64BE(8));
  return {
    virtualSizeBytes,
    backingName: offset === 0 ? null : { offset, length: bytes.readUInt32BE(16) },
    hasDataFile: version === 3 && (bytes.readUInt32BE(76) & (1 << DATA_FILE_BIT)) !== 0,
    isEncrypted: bytes.readUInt32BE(32) !== 0,
  };
}
