import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { newWebhookSecret, signatureHeaders } from './sign.ts';

type Verify = (secret: string, headers: Record<string, string>, body: string) => unknown;

const page = path.resolve(import.meta.dirname, '../../../../docs/tenants/webhooks.md');
let verify: Verify;

beforeAll(async () => {
  const [, example = ''] = /```js\n(.*?)```/s.exec(readFileSync(page, 'utf8')) ?? [];
  const program = `data:text/javascript,${encodeURIComponent(example)}`;
  ({ verify } = (await import(/* @vite-ignore */ program)) as { verify: Verify });
});

const now = () => Math.floor(Date.now() / 1_000);
const message = (change = {}) => ({ id: '0-1-2', timestampS: now(), body: '{"a":"ü"}', ...change });

describe('the example of docs/tenants/webhooks.md', () => {
  const secret = newWebhookSecret();

  it('accepts what was signed with the secret', () => {
    expect(verify(secret, signatureHeaders(message(), [secret]), '{"a":"ü"}')).toEqual({ a: 'ü' });
  });

  it('accepts a message with the signatures of an old and a new secret, if it knows one', () => {
    const headers = signatureHeaders(message(), [newWebhookSecret(), secret]);
    expect(verify(secret, headers, '{"a":"ü"}')).toEqual({ a: 'ü' });
  });

  it.each([
    ['another body', '{"a":"u"}', {}],
    ['another id', '{"a":"ü"}', { 'webhook-id': '0-1-3' }],
    ['another time', '{"a":"ü"}', { 'webhook-timestamp': String(now() - 1) }],
    ['a short signature', '{"a":"ü"}', { 'webhook-signature': 'v1,YQ==' }],
  ])('refuses %s', (_, body, changed) => {
    const headers = { ...signatureHeaders(message(), [secret]), ...changed };
    expect(() => verify(secret, headers, body)).toThrow('the signature is wrong');
  });

  it('refuses the signature of another secret, and an old message', () => {
    const other = signatureHeaders(message(), [newWebhookSecret()]);
    expect(() => verify(secret, other, '{"a":"ü"}')).toThrow('the signature is wrong');
    const old = signatureHeaders(message({ timestampS: now() - 600 }), [secret]);
    expect(() => verify(secret, old, '{"a":"ü"}')).toThrow('too old');
  });
});

it('the signature is that of the specification', () => {
  // The example of https://www.standardwebhooks.com: secret, id, time, body and signature.
  const headers = signatureHeaders(
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampS: 1_614_265_330, body: '{"test": 2432232314}' },
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  );
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});
