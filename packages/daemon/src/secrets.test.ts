import { describe, expect, it } from 'vitest';
import { createSecrets, type Secrets, sha256 } from './secrets.ts';

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

describe('several keys', () => {
  const OLD = 'the old key of the installation, long enough';
  const NEW = 'the new key of the installation, long enough';
  const [old, both, moved, fresh] = [OLD, `${OLD}\n${NEW}`, `${NEW}\n${OLD}\n`, NEW].map((keys) =>
    createSecrets(keys),
  ) as [Secrets, Secrets, Secrets, Secrets];

  it('open and verify what any of them sealed and signed; the first seals and signs', () => {
    const steps: [Secrets, Secrets[]][] = [
      [old, [old, both, moved]],
      [both, [old, both, moved]],
      [moved, [both, moved, fresh]],
      [fresh, [both, moved, fresh]],
    ];
    for (const [maker, readers] of steps) {
      const sealed = maker.seal('one', 'the secret');
      const signature = maker.sign('one', 'text');
      for (const reader of readers) {
        expect(reader.unseal('one', sealed)).toBe('the secret');
        expect(reader.verify('one', 'text', signature)).toBe(true);
      }
    }
    expect(() => fresh.unseal('one', both.seal('one', 'x'))).toThrow();
    expect(fresh.verify('one', 'text', old.sign('one', 'text'))).toBe(false);
  });

  it('move a stored value to the first key once', () => {
    const sealed = old.seal('one', 'the secret');
    const again = moved.reseal('one', sealed) ?? '';
    expect(fresh.unseal('one', again)).toBe('the secret');
    expect(moved.reseal('one', again)).toBeUndefined();
    expect(() => fresh.reseal('one', sealed)).toThrow();
  });

  it('must each have at least 32 characters', () => {
    expect(() => createSecrets(`${NEW}\nshort`)).toThrow('GANTRY_SECRET_KEY');
    expect(() => createSecrets('\n', 'GANTRY_FLEET_KEY')).toThrow('GANTRY_FLEET_KEY');
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
