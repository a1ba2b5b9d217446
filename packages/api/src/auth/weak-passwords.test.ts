import { expect, it } from 'vitest';
import { weaknessOf } from './weak-passwords.ts';

const EMAIL = 'ada.lovelace@example.test';

it.each([
  'password1234',
  'Password123!',
  'P@ssw0rd2024',
  'passwordpassword',
  '123456789012',
  '111111111111',
  'abababababab',
  'abcdefghijkl',
  'qwertyuiop12',
  'qwerty123456',
  'asdfghjkl1234',
  '1q2w3e4r5t6y',
  'iloveyou1234',
  'letmein12345',
  'Welcome2024!!',
  'changeme1234',
  'administrator',
  'Summer2024!!',
  'trustno1trustno1',
  'superman12345',
  'ada.lovelace',
  'Lovelace2024',
  'lovelace-ada1',
  'gantry123456',
  'GantryAdmin1!',
  'aaaaaaaaaaaa1',
])('%s is refused', (password) => {
  expect(weaknessOf(password, EMAIL)).toEqual(expect.any(String));
});

it.each([
  'correct horse battery',
  'another long password',
  'long enough a password',
  'zB7#kqLp0vXt',
  'tr0ub4dor&3xyz',
  'Lovelace wrote notes',
  'вишневый сад 1904',
  'my dog ate the invoice',
  'f3d9c1a07b52e864',
])('%s is accepted', (password) => {
  expect(weaknessOf(password, EMAIL)).toBeUndefined();
});

it('a long password takes no time', () => {
  const started = performance.now();
  weaknessOf('passwordq'.repeat(110), EMAIL);
  expect(performance.now() - started).toBeLessThan(5_000);
});
