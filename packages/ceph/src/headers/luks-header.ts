import { createCipheriv, createHash, pbkdf2Sync, randomBytes, randomUUID } from 'node:crypto';

/**
 * The header of an encrypted volume, in the format LUKS 1, which QEMU, librbd and cryptsetup open. The data behind it is
 * encrypted with a random master key (AES-256 in XTS mode), and the header has the master key, encrypted with the
 * passphrase. The programs that write such headers spend seconds on many iterations of PBKDF2, and so does each client
 * that opens the volume. They protect passphrases that people choose; a passphrase of 256 random bits needs none of them.
 */

/** The data begins here, at the second object of a volume. */
const LUKS_HEADER_BYTES = 4 * 1024 * 1024;

const SECTOR_BYTES = 512;
const MASTER_KEY_BYTES = 64;
const STRIPES = 4000;
const ITERATIONS = 1000;
const SLOTS = 8;
const SLOT_ENABLED = 0x00ac71f3;
const SLOT_DISABLED = 0x0000dead;
const FIRST_SLOT_SECTOR = 8;
/** The size of a slot, rounded up to a multiple of 4 KiB. */
const SLOT_SECTORS = 504;
const HASH = 'sha256';
const HASH_BYTES = 32;

/** Returns the beginning of the header; the rest of `LUKS_HEADER_BYTES` is zeros. Every call chooses another master key. */
export function makeLuksHeader(passphrase: string): Buffer {
  const masterKey = randomBytes(MASTER_KEY_BYTES);
  const salt = randomBytes(HASH_BYTES);
  const slotKey = pbkdf2Sync(passphrase, salt, ITERATIONS, MASTER_KEY_BYTES, HASH);
  const material = encryptSectors(slotKey, splitKey(masterKey));
  return Buffer.concat([writeFields(masterKey, salt), material]);
}

/** All numbers are big-endian, and texts end with zeros. */
function writeFields(masterKey: Buffer, slotSalt: Buffer): Buffer {
  const digestSalt = randomBytes(HASH_BYTES);
  const text = (value: string, length: number) => {
    const field = Buffer.alloc(length);
    field.write(value, 'latin1');
    return field;
  };
  const slots = Array.from({ length: SLOTS }, (_, index) => [
    numberField(index === 0 ? SLOT_ENABLED : SLOT_DISABLED),
    numberField(index === 0 ? ITERATIONS : 0),
    index === 0 ? slotSalt : Buffer.alloc(HASH_BYTES),
    numberField(FIRST_SLOT_SECTOR + index * SLOT_SECTORS),
    numberField(STRIPES),
  ]);
  const fields = Buffer.concat([
    Buffer.from('LUKS\xba\xbe\0\x01', 'latin1'),
    text('aes', 32),
    text('xts-plain64', 32),
    text(HASH, 32),
    numberField(LUKS_HEADER_BYTES / SECTOR_BYTES),
    numberField(MASTER_KEY_BYTES),
    pbkdf2Sync(masterKey, digestSalt, ITERATIONS, 20, HASH),
    digestSalt,
    numberField(ITERATIONS),
    text(randomUUID(), 40),
    ...slots.flat(),
  ]);
  return Buffer.concat([fields], FIRST_SLOT_SECTOR * SECTOR_BYTES);
}

function numberField(value: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32BE(value);
  return field;
}

/** Spreads the key over many stripes, all of which are needed to read it: to overwrite one destroys the key. */
function splitKey(key: Buffer): Buffer {
  const stripes = randomBytes(STRIPES * key.length);
  const last = (STRIPES - 1) * key.length;
  const sum = Buffer.alloc(key.length);
  for (let start = 0; start < last; start += key.length) {
    xorInto(sum, stripes, start);
    diffuse(sum);
  }
  xorInto(sum, key, 0);
  sum.copy(stripes, last);
  return stripes;
}

function diffuse(stripe: Buffer): void {
  for (let start = 0; start < stripe.length; start += HASH_BYTES) {
    const block = stripe.subarray(start, start + HASH_BYTES);
    createHash(HASH)
      .update(numberField(start / HASH_BYTES))
      .update(block)
      .digest()
      .copy(block);
  }
}

function xorInto(target: Buffer, source: Buffer, start: number): void {
  for (let index = 0; index < target.length; index += 4) {
    const word = target.readInt32LE(index) ^ source.readInt32LE(start + index);
    target.writeInt32LE(word, index);
  }
}

/** Each sector is encrypted with its number, counted from the first one of the data. */
function encryptSectors(key: Buffer, data: Buffer): Buffer {
  const sectors: Buffer[] = [];
  for (let start = 0; start < data.length; start += SECTOR_BYTES) {
    const number = Buffer.alloc(16);
    number.writeUInt32LE(start / SECTOR_BYTES);
    const cipher = createCipheriv('aes-256-xts', key, number);
    sectors.push(cipher.update(data.subarray(start, start + SECTOR_BYTES)), cipher.final());
  }
  return Buffer.concat(sectors);
}
