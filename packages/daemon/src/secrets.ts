import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { SettingsError } from './settings.ts';

/**
 * The uses of a secret key. Each purpose has its own key, derived from the secret key, so that a
 * value made for one purpose is not valid for another.
 *
 * A key is replaced without downtime: several keys may be given, one per line. The first one seals
 * and signs, and all of them open and verify. `reseal` moves a stored value to the first key.
 */
export type Secrets = {
  seal(purpose: string, text: string): string;
  unseal(purpose: string, sealed: string): string;
  /** Returns the value sealed with the first key, or undefined if it already is. */
  reseal(purpose: string, sealed: string): string | undefined;
  sign(purpose: string, text: string): string;
  verify(purpose: string, text: string, signature: string): boolean;
};

const MIN_KEY_LENGTH = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export function createSecrets(secretKeys: string, setting = 'GANTRY_SECRET_KEY'): Secrets {
  const all = linesOf(secretKeys).map((key) => {
    if (key.length >= MIN_KEY_LENGTH) return createOneKey(key);
    throw new SettingsError(
      `${setting} must have at least ${MIN_KEY_LENGTH} characters in each line`,
    );
  });
  const [first] = all;
  if (!first) throw new SettingsError(`${setting} must have at least ${MIN_KEY_LENGTH} characters`);
  const unseal = (purpose: string, sealed: string) => {
    for (const key of all) {
      const text = key.open(purpose, sealed);
      if (text !== undefined) return text;
    }
    throw new Error(`a value for the purpose "${purpose}" was sealed with another ${setting}`);
  };
  return {
    seal: first.seal,
    sign: first.sign,
    unseal,
    verify: (purpose, text, signature) => all.some((key) => key.verify(purpose, text, signature)),
    reseal(purpose, sealed) {
      if (first.open(purpose, sealed) !== undefined) return undefined;
      return first.seal(purpose, unseal(purpose, sealed));
    },
  };
}

/** The keys of a setting, one per line. */
export function linesOf(secretKeys: string): string[] {
  return secretKeys.split(/\r?\n/).filter((key) => key !== '');
}

function createOneKey(secretKey: string) {
  const keys = new Map<string, Buffer>();
  const keyFor = (purpose: string) => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', secretKey, '', `gantry ${purpose}`, 32));
    keys.set(purpose, key);
    return key;
  };
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', keyFor(purpose)).update(text).digest('base64url');
  const unseal = (purpose: string, sealed: string) => {
    const bytes = Buffer.from(sealed, 'base64url');
    const iv = bytes.subarray(0, IV_BYTES);
    // A truncated value must not pass with a shorter tag, which would be easier to forge.
    const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const body = bytes.subarray(IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  };
  return {
    sign,
    /** Returns undefined if the value was not sealed with this key. */
    open(purpose: string, sealed: string): string | undefined {
      try {
        return unseal(purpose, sealed);
      } catch {
        return undefined;
      }
    },
    verify(purpose: string, text: string, signature: string) {
      const expected = Buffer.from(sign(purpose, text));
      const given = Buffer.from(signature);
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
    seal(purpose: string, text: string) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
  };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
