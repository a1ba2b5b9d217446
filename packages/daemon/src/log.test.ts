import { expect, it } from 'vitest';
import { createLog } from './log.ts';

const KEY = 'gantry_ak_0123456789abcdefghijklmnopqrstuvABCDEF';
const TOKEN = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLog({ process: 'test', destination }));
  return lines.join('');
}

it('redacts fields with secret names at every depth', () => {
  const text = logged((log) =>
    log.info({ password: 'p1', user: { access_key: 'p2', deep: { refresh_token: 'p3' } } }, 'x'),
  );
  expect(text).not.toMatch(/p1|p2|p3/);
  expect(JSON.parse(text)).toMatchObject({
    password: '[redacted]',
    user: { access_key: '[redacted]' },
  });
});

it.each([
  ['an access key', KEY],
  ['a token', TOKEN],
  ['a bearer', `Bearer ${TOKEN}`],
  ['a password in a URL', 'postgres://gantry:hunter2@db:5432/gantry'],
])('redacts %s in an error and in its causes', (_name, secret) => {
  const error = new Error(`outer ${secret}`, { cause: new Error(`inner ${secret}`) });
  const text = logged((log) => log.error({ error }, 'x'));
  expect(text).toContain('outer');
  expect(text).toContain('inner');
  for (const part of [KEY, TOKEN, 'hunter2']) expect(text).not.toContain(part);
});
