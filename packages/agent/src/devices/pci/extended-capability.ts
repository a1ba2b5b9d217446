const FIRST = 0x100;
const HEADER_BYTES = 4;
/** The config space has room for no more. */
const MOST = (4_096 - FIRST) / HEADER_BYTES;

/**
 * Returns the offset of an extended capability in a config space, or undefined. Only root can read
 * beyond the first 64 bytes.
 */
export function findExtendedCapability(config: Buffer, id: number): number | undefined {
  let at = FIRST;
  for (let seen = 0; seen < MOST && at >= FIRST; seen += 1) {
    if (at + HEADER_BYTES > config.length) return undefined;
    const header = config.readUInt32LE(at);
    // All ones: the device is gone. Zero: there are none.
    if (header === 0 || header === 0xffff_ffff) return undefined;
    if ((header & 0xffff) === id) return at;
    at = header >>> 20;
  }
  return undefined;
}
