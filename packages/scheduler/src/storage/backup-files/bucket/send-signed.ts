import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AwsV4Signer } from 'aws4fetch';
import { LeaseLost } from '../../lease-writes.ts';
import { BucketError } from './bucket-error.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { type Payload, payloadOfText } from './payload.ts';
import { readXml } from './read-xml.ts';

export type BucketRequest = {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** The name of the object; absent: the request is about the bucket. */
  name?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  payload?: Payload;
  /** How many bytes the reply may have, for the time limit. */
  replyBytes?: number;
  /** How long the server may be silent, if that differs from the usual limit. */
  silenceMs?: number;
};

/** Sends a request. Resolves with a reply of success, whose body is not read yet; rejects with a BucketError. */
export type SendSigned = (request: BucketRequest) => Promise<IncomingMessage>;

/** A connection on which nothing moves for this long is given up. Servers may think this long about a part. */
const SILENCE_MS = 60_000;
/** A server that sends a byte now and then ends here. The time grows with what is sent. */
const LEAST_MS = 300_000;
const SLOWEST_BYTES_PER_MS = 128;

const NOTHING = payloadOfText('');

type Options = { settings: BucketSettings; stopping: AbortSignal; silenceMs?: number | undefined };

/**
 * Sends requests with Node's own client instead of `fetch`, which can neither trust an authority of the operator without
 * trusting it everywhere, nor limit how long a body is silent.
 */
export function openSender({ settings, stopping, silenceMs = SILENCE_MS }: Options): SendSigned {
  const { endpoint, bucket, region, keyId, secret, authorities } = settings;
  const isSecure = endpoint.startsWith('https:');
  const client = isSecure ? https : http;
  const agent = isSecure
    ? new https.Agent({ keepAlive: true, ...(authorities && { ca: authorities }) })
    : new http.Agent({ keepAlive: true });
  // Keys that are derived from the secret, for a day each.
  const cache = new Map<string, ArrayBuffer>();

  const sign = async ({ method, name, query = {}, headers = {}, payload }: BucketRequest) => {
    const url = new URL(`${endpoint}/${bucket}${name === undefined ? '' : `/${name}`}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const { bytes, sha256, md5 } = payload ?? NOTHING;
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, accessKeyId: keyId, secretAccessKey: secret },
      ...{ service: 's3', region, cache },
      headers: {
        ...headers,
        'X-Amz-Content-Sha256': sha256,
        ...((payload || method === 'POST') && { 'Content-Length': String(bytes) }),
        ...(payload && { 'Content-MD5': md5 }),
      },
    });
    return await signer.sign();
  };

  return async (wanted) => {
    if (stopping.aborted) throw stopped();
    const { method, payload, replyBytes = 0 } = wanted;
    const { url, headers } = await sign(wanted);
    const what = `${method} ${url.origin}${url.pathname}`;
    const silentMs = wanted.silenceMs ?? silenceMs;
    const limitMs = LEAST_MS + ((payload?.bytes ?? 0) + replyBytes) / SLOWEST_BYTES_PER_MS;
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      let begun: IncomingMessage | undefined;
      const request = client.request(url, {
        ...{ method, agent, timeout: silentMs, headers: Object.fromEntries(headers) },
      });
      const end = (error: Error) => (begun ?? request).destroy(error);
      const stop = () => end(stopped());
      const tooLong = () => end(new BucketError(`${what}: not complete after ${limitMs} ms`));
      const timer = setTimeout(tooLong, limitMs);
      stopping.addEventListener('abort', stop);
      request.once('close', () => {
        clearTimeout(timer);
        stopping.removeEventListener('abort', stop);
      });
      request.on('timeout', () => end(new BucketError(`${what}: silent for ${silentMs} ms`)));
      request.on('error', (error) => reject(asBucketError(what, error)));
      request.once('response', (response) => {
        begun = response;
        resolve(response);
      });
      if (payload === undefined) request.end();
      else
        pipeline(payload.read(), request, (error) => error && reject(asBucketError(what, error)));
    });
    if (reply.statusCode !== undefined && reply.statusCode < 300) return reply;
    throw await refusalOf(what, reply);
  };
}

function stopped(): LeaseLost {
  return new LeaseLost('the scheduler stops; another one repeats the attempt');
}

/** The connection failed: not reached, cut, or not trusted. */
export function asBucketError(what: string, error: unknown): Error {
  if (error instanceof BucketError || error instanceof LeaseLost) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return new BucketError(`${what}: ${reason || code}`, { code, cause: error });
}

async function refusalOf(what: string, reply: IncomingMessage): Promise<Error> {
  try {
    const { Code: code = '', Message: message = '' } = readXml(await text(reply)).fields;
    const status = reply.statusCode ?? 0;
    return new BucketError(`${what}: ${[status, code, message].filter(Boolean).join(' ')}`, {
      ...{ status, code },
    });
  } catch (error) {
    return asBucketError(what, error);
  } finally {
    // A body that is still being sent is of no use.
    reply.destroy();
  }
}
