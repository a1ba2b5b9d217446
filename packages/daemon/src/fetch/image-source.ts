import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AddressRefused, type AddressRules, checkedLookup, urlProblem } from './address-rules.ts';

/** A file is read in larger chunks than a socket provides. */
const FILE_CHUNK_BYTES = 1_048_576;

export type SourceLimits = {
  /** From the request to the start of the reply: name lookup, connection, TLS and headers. */
  replyMs: number;
  /** The longest time without data. The total time is not limited. */
  stallMs: number;
  redirects: number;
};

/** `sizeBytes` is null if the source does not send it. */
export type ImageSource = { stream: Readable; sizeBytes: number | null };

/**
 * Throws with the reason as its message. With `rules`, the URL is that of a tenant: it cannot name a file, and neither it
 * nor what it redirects to can be an address that the rules forbid.
 */
export async function openImageSource(
  url: URL,
  limits: SourceLimits,
  rules?: AddressRules,
): Promise<ImageSource> {
  if (url.protocol === 'file:' && !rules) return await openFile(fileURLToPath(url));
  let at = url;
  for (let redirects = 0; redirects <= limits.redirects; redirects += 1) {
    requireHttp(at);
    const problem = rules && urlProblem(at.href, rules);
    if (problem) throw new AddressRefused(`the URL ${problem}`);
    const reply = await request(at, limits, rules);
    const { statusCode = 0, headers } = reply;
    if (statusCode === 200) {
      const length = headers['content-length'];
      return { stream: reply, sizeBytes: length === undefined ? null : Number(length) };
    }
    reply.destroy();
    if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) {
      throw new Error(`the server replied with status ${statusCode}`);
    }
    at = new URL(headers.location, at);
  }
  throw new Error(`it was redirected more than ${limits.redirects} times`);
}

/**
 * Returns the part of an image's URL that may be shown: failures reach tenants, and user names,
 * passwords and signatures in a URL belong to the operator.
 */
export function shownUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** A server must not redirect the agent to a file of its host. */
function requireHttp(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(
      `images are downloaded by https, http or file, not by ${url.protocol.slice(0, -1)}`,
    );
  }
}

async function request(
  url: URL,
  { replyMs, stallMs }: SourceLimits,
  rules: AddressRules | undefined,
): Promise<IncomingMessage> {
  const get = url.protocol === 'https:' ? https.get : http.get;
  return await new Promise((resolve, reject) => {
    // The checksum covers the file as the server stores it.
    const asked = get(url, {
      ...{ agent: false, headers: { 'accept-encoding': 'identity' } },
      ...(rules ? { lookup: checkedLookup(rules) } : {}),
    });
    const late = setTimeout(
      () => asked.destroy(new Error(`no reply within ${replyMs / 1000} s`)),
      replyMs,
    );
    asked.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    asked.on('response', (reply) => {
      clearTimeout(late);
      asked.setTimeout(stallMs, () => reply.destroy(new Error(`no data for ${stallMs / 1000} s`)));
      resolve(reply);
    });
  });
}

/** Opened without blocking, because a pipe without a writer would block for ever. */
async function openFile(path: string): Promise<ImageSource> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) {
    await file.close();
    throw new Error(`${path} is not a regular file`);
  }
  const stream = createReadStream(path, { fd: file, highWaterMark: FILE_CHUNK_BYTES });
  return { stream, sizeBytes: stats.size };
}
