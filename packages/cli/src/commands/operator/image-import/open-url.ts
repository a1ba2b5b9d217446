import { ImportError } from '../../../cli-errors.ts';

/** As many as a host follows, so that no image is imported that hosts cannot download. */
const MAX_REDIRECTS = 5;
const REPLY_LIMIT_MS = 30_000;
/** A sums file has a few kilobytes. */
const MAX_SMALL_BYTES = 1_048_576;

export type Opened = { body: AsyncIterable<Uint8Array>; sizeBytes: number | undefined };

/** Requests the URL and follows redirects, which may lead to other servers: the content is verified. */
export async function openUrl(url: URL, signal: AbortSignal): Promise<Opened> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (at.protocol !== 'https:' && at.protocol !== 'http:')
      throw new ImportError(`${shown(url)}: only http and https can be imported`);
    const reply = await request(at, signal);
    if (reply.status === 200 && reply.body !== null) {
      const length = reply.headers.get('content-length');
      return { body: reply.body, sizeBytes: length === null ? undefined : Number(length) };
    }
    await reply.body?.cancel();
    const location = reply.headers.get('location');
    if (
      reply.status < 300 ||
      reply.status >= 400 ||
      location === null ||
      !URL.canParse(location, at.href)
    )
      throw new ImportError(`${shown(at)}: the server replied with status ${reply.status}`);
    at = new URL(location, at);
  }
  throw new ImportError(`${shown(url)}: it was redirected more than ${MAX_REDIRECTS} times`);
}

export async function readSmallFile(url: URL, signal: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of readBody(url, await openUrl(url, signal))) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_SMALL_BYTES)
      throw new ImportError(`${shown(url)}: it has more than ${MAX_SMALL_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body as it comes. Throws if it ends before it is complete. */
export async function* readBody(url: URL, { body, sizeBytes }: Opened): AsyncIterable<Uint8Array> {
  let received = 0;
  try {
    for await (const chunk of body) {
      received += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw new ImportError(`${shown(url)}: the download ended after ${received} bytes`, error);
  }
  if (sizeBytes !== undefined && received !== sizeBytes)
    throw new ImportError(
      `${shown(url)}: the download ended after ${received} of ${sizeBytes} bytes`,
    );
}

/** The URL without user, password and query, which may be secrets. */
export function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

async function request(url: URL, signal: AbortSignal): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Error(`no reply within ${REPLY_LIMIT_MS / 1000} s`)),
    REPLY_LIMIT_MS,
  );
  try {
    return await fetch(url, {
      redirect: 'manual',
      // The checksum covers the file as the server stores it.
      headers: { 'accept-encoding': 'identity' },
      signal: AbortSignal.any([signal, late.signal]),
    });
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ImportError(`${shown(url)} cannot be downloaded: ${reason}`, error);
  } finally {
    clearTimeout(timer);
  }
}
