import { describe, expect, it } from 'vitest';
import { createSecrets, sha256 } from './secrets.ts';

const secrets = createSecrets('the key of one installation, long enough');
const elsewhere = createSecrets('the key of another installation, as long');

describe('sealing', () => {
  it('returns any text unchanged when it is unsealed', () => {
    for (const text of ['', 'plain', '{"key":"gantry_ak_ü€😀"}', 'x'.repeat(100_000)]) {
      expect(secrets.unseal('one', secrets.seal('one', text))).toBe(text);
    }
  });

  it('hides the text and gives a different result each time', () => {
    const sealed = secrets.seal('one', 'the secret');
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('the secret');
    expect(secrets.seal('one', 'the secret')).not.toBe(sealed);
  });

  it('can be undone only for the same purpose in the same installation', () => {
    const sealed = secrets.seal('one', 'the secret');
    expect(() => secrets.unseal('two', sealed)).toThrow();
    expect(() => elsewhere.unseal('one', sealed)).toThrow();
  });

  it('cannot be undone if a single bit changed or the text was cut', () => {
    const bytes = Buffer.from(secrets.seal('one', 'the secret'), 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => secrets.unseal('one', changed.toString('base64url'))).toThrow();
    }
    expect(() => secrets.unseal('one', bytes.subarray(0, -1).toString('base64url'))).toThrow();
    expect(() => secrets.unseal('one', '')).toThrow();
  });
});

describe('signing', () => {
  it('verifies only what it signed', () => {
    const signature = secrets.sign('one', 'text');
    expect(secrets.sign('one', 'text')).toBe(signature);
    expect(secrets.verify('one', 'text', signature)).toBe(true);
    expect(secrets.verify('one', 'texT', signature)).toBe(false);
    expect(secrets.verify('two', 'text', signature)).toBe(false);
    expect(elsewhere.verify('one', 'text', signature)).toBe(false);
    for (const forged of ['', signature.slice(1), `${signature}x`]) {
      expect(secrets.verify('one', 'text', forged)).toBe(false);
    }
  });
});

describe("the installation's key", () => {
  it('must have at least 32 characters', () => {
    expect(() => createSecrets('x'.repeat(31))).toThrow('GANTRY_SECRET_KEY');
    expect(() => createSecrets('x'.repeat(32))).not.toThrow();
  });
});

describe('sha256', () => {
  it('is the hash of the text, in base64url', () => {
    expect(sha256('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });
});
