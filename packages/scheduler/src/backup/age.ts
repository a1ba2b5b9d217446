import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { ByteReader } from './byte-reader.ts';

/**
 * The age format, version 1: https://c2sp.org/age. A header has the file key, wrapped in a stanza, and a
 * MAC. The content follows in chunks of 64 KiB, each encrypted with ChaCha20-Poly1305 and a number, and
 * the last one is marked. So a file that was changed, reordered or cut short does not decrypt. We write
 * it ourselves because Node has every primitive, and no program is needed that a rescue system may not
 * have. A file with a passphrase can also be opened with the program `age`.
 */
export type Stanza = { type: string; args: string[]; body: Buffer };

export const FILE_KEY_BYTES = 16;

const VERSION = 'age-encryption.org/v1';
const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const NONCE_BYTES = 16;
/** Base64 in a header has lines of this length, and ends with a shorter one. */
const COLUMNS = 64;
const MAX_HEADER_BYTES = 65_536;

type Wrapped = { fileKey: Buffer; stanza: Stanza };

export async function* encryptAge(
  content: AsyncIterable<Uint8Array>,
  { fileKey, stanza }: Wrapped,
): AsyncGenerator<Buffer> {
  const head = renderHead(stanza);
  yield Buffer.from(`${head} ${encode(headerMac(fileKey, head))}\n`);
  const nonce = randomBytes(NONCE_BYTES);
  yield nonce;
  const key = derive(fileKey, { salt: nonce, info: 'payload' });
  const reader = new ByteReader(content);
  for (let number = 0; ; number += 1) {
    const chunk = await reader.upTo(CHUNK_BYTES);
    const isLast = await reader.isAtEnd();
    const cipher = createCipheriv('chacha20-poly1305', key, chunkNonce(number, isLast), {
      authTagLength: TAG_BYTES,
    });
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    if (isLast) return;
  }
}

/** Throws if the file is not of this format, was changed, or is not complete. */
export async function* decryptAge(
  file: AsyncIterable<Uint8Array>,
  unwrap: (stanza: Stanza) => Promise<Buffer>,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(file);
  const { stanza, head, mac } = await readHeader(reader);
  const fileKey = await unwrap(stanza);
  const expected = headerMac(fileKey, head);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected))
    throw new Error('its header was changed');
  const nonce = await reader.exactly(NONCE_BYTES);
  const key = derive(fileKey, { salt: nonce, info: 'payload' });
  for (let number = 0; ; number += 1) {
    const chunk = await reader.upTo(CHUNK_BYTES + TAG_BYTES);
    const isLast = await reader.isAtEnd();
    yield openChunk(chunk, { key, nonce: chunkNonce(number, isLast) });
    if (isLast) return;
  }
}

function openChunk(chunk: Buffer, { key, nonce }: { key: Buffer; nonce: Buffer }): Buffer {
  if (chunk.length < TAG_BYTES) throw new Error('it is not complete');
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(chunk.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(chunk.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new Error('it was changed, or is not complete', { cause });
  }
}

/** The header up to the dashes, which is what the MAC covers. */
function renderHead({ type, args, body }: Stanza): string {
  const text = encode(body);
  const lines = Array.from({ length: Math.floor(text.length / COLUMNS) + 1 }, (_, index) =>
    text.slice(index * COLUMNS, (index + 1) * COLUMNS),
  );
  return [VERSION, ['->', type, ...args].join(' '), ...lines, '---'].join('\n');
}

async function readHeader(reader: ByteReader) {
  const lines: string[] = [];
  let line = '';
  for (let size = 0; !line.startsWith('---'); size += 1) {
    line = '';
    for (let byte = ''; byte !== '\n'; byte = (await reader.exactly(1)).toString('latin1')) {
      line += byte;
      size += 1;
      if (size > MAX_HEADER_BYTES) throw new Error('it is no backup');
    }
    lines.push(line);
    if (lines[0] !== VERSION) throw new Error('it is no backup');
  }
  const [arrow, type = '', ...args] = (lines[1] ?? '').split(' ');
  const isOther = lines.slice(2).some((each) => each.startsWith('->'));
  if (arrow !== '->' || isOther) throw new Error('its header has another form');
  const mac = Buffer.from(line.slice('--- '.length), 'base64');
  const body = Buffer.from(lines.slice(2, -1).join(''), 'base64');
  const head = [...lines.slice(0, -1), '---'].join('\n');
  return { stanza: { type, args, body }, head, mac };
}

function headerMac(fileKey: Buffer, head: string): Buffer {
  const key = derive(fileKey, { salt: Buffer.alloc(0), info: 'header' });
  return createHmac('sha256', key).update(head).digest();
}

function derive(fileKey: Buffer, { salt, info }: { salt: Buffer; info: string }): Buffer {
  return Buffer.from(hkdfSync('sha256', fileKey, salt, info, 32));
}

/** Eleven bytes of a number, and one that marks the last chunk. */
function chunkNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
