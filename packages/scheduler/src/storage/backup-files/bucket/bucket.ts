import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { backoffMs } from '@gantry/daemon/backoff';
import { LeaseLost } from '../../lease-writes.ts';
import { BucketError, isTransient } from './bucket-error.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { type Payload, payloadOfText } from './payload.ts';
import { escapeXml, readXml, type XmlReply } from './read-xml.ts';
import { asBucketError, type BucketRequest, openSender } from './send-signed.ts';

/** The operations of a bucket that backups need. Each is repeated a few times, and then throws a BucketError. */
export type Bucket = {
  put(name: string, payload: Payload): Promise<void>;
  /** Yields the content, which must have this length. Continues after an interruption where it was. */
  read(name: string, bytes: number): AsyncGenerator<Buffer>;
  readText(name: string): Promise<string>;
  list(beginning: string): Promise<string[]>;
  /** To remove an object that does not exist is no error. */
  remove(name: string): Promise<void>;
  startUpload(name: string): Promise<string>;
  /** Returns the tag of the part, by which `completeUpload` names it. */
  putPart(upload: Upload, part: { number: number; payload: Payload }): Promise<string>;
  completeUpload(upload: Upload, tags: readonly string[]): Promise<void>;
  abortUpload(upload: Upload): Promise<void>;
  listUploads(beginning: string): Promise<Upload[]>;
};

export type Upload = { name: string; id: string };

/** Tests are less patient. */
export type BucketPatience = { silenceMs?: number; pauseMs?: number };

/** With the limit of silence, an endpoint that does not reply costs an attempt about three minutes. */
const MOST_TRIES = 3;
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
/** A server may copy all parts before it replies. */
const COMPLETION_SILENCE_MS = 180_000;

export function openBucket({
  settings,
  stopping,
  patience: { silenceMs, pauseMs = PAUSE_MS } = {},
}: {
  settings: BucketSettings;
  /** Ends all requests. What they were for throws LeaseLost, because another scheduler goes on. */
  stopping: AbortSignal;
  patience?: BucketPatience | undefined;
}): Bucket {
  const send = openSender({ settings, stopping, silenceMs });

  const pause = async (failures: number) => {
    const ms = backoffMs(failures, { minMs: pauseMs, maxMs: LONGEST_PAUSE_MS, jitter: 0.5 });
    await setTimeout(ms, undefined, { signal: stopping }).catch(() => {
      throw new LeaseLost('the scheduler stops; another one repeats the attempt');
    });
  };
  const repeat = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let failures = 0; ; failures += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!isTransient(error) || failures + 1 >= MOST_TRIES) throw error;
        await pause(failures);
      }
    }
  };
  const call = (request: BucketRequest) =>
    repeat(async () => {
      const reply = await send(request);
      const body = await bodyOf(request, reply);
      return { body, headers: reply.headers };
    });
  /** Lists in pages. `next` returns the query of the next page. */
  const listPages = async (
    root: string,
    query: Record<string, string>,
    next: (page: XmlReply) => Record<string, string>,
  ): Promise<XmlReply[]> => {
    const pages: XmlReply[] = [];
    let marker: Record<string, string> = {};
    for (;;) {
      const { body } = await call({ method: 'GET', query: { ...query, ...marker } });
      const page = readXml(body);
      // The page of a proxy must not look like an empty bucket.
      if (page.root !== root)
        throw new BucketError(`GET of the bucket: the reply is no ${root}`, { status: 200 });
      pages.push(page);
      if (page.fields['IsTruncated'] !== 'true') return pages;
      marker = next(page);
    }
  };

  async function* read(name: string, bytes: number): AsyncGenerator<Buffer> {
    let offset = 0;
    let failures = 0;
    while (offset < bytes) {
      const headers = { Range: `bytes=${offset}-` };
      try {
        const reply = await send({ method: 'GET', name, headers, replyBytes: bytes - offset });
        requireLength(name, { reply, wanted: bytes - offset, isFirst: offset === 0 });
        for await (const chunk of reply as AsyncIterable<Buffer>) {
          offset += chunk.length;
          failures = 0;
          yield chunk;
        }
        if (offset < bytes) throw new BucketError(`GET ${name}: the reply ended early`);
      } catch (cause) {
        const error = asBucketError(`GET ${name}`, cause);
        failures += 1;
        if (!isTransient(error) || failures >= MOST_TRIES) throw error;
        await pause(failures - 1);
      }
    }
  }

  return {
    read,
    put: async (name, payload) => void (await call({ method: 'PUT', name, payload })),
    readText: async (name) => (await call({ method: 'GET', name })).body,
    remove: async (name) => void (await unlessAbsent(call({ method: 'DELETE', name }))),
    async list(beginning) {
      const pages = await listPages(
        'ListBucketResult',
        { 'list-type': '2', prefix: beginning },
        ({ fields }) => ({ 'continuation-token': fields['NextContinuationToken'] ?? '' }),
      );
      return pages.flatMap(({ lists }) => (lists['Contents'] ?? []).map(({ Key = '' }) => Key));
    },
    async startUpload(name) {
      const { body } = await call({ method: 'POST', name, query: { uploads: '' } });
      const id = readXml(body).fields['UploadId'];
      if (id === undefined)
        throw new BucketError(`POST ${name}: the reply has no UploadId`, { status: 200 });
      return id;
    },
    async putPart({ name, id: uploadId }, { number, payload }) {
      const query = { partNumber: String(number), uploadId };
      const { headers } = await call({ method: 'PUT', name, query, payload });
      if (headers.etag === undefined)
        throw new BucketError(`PUT ${name}: the reply has no ETag`, { status: 200 });
      return headers.etag;
    },
    async completeUpload({ name, id: uploadId }, tags) {
      const parts = tags.map(
        (tag, index) =>
          `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
      );
      const payload = payloadOfText(
        `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
      );
      const request = { name, query: { uploadId }, payload, silenceMs: COMPLETION_SILENCE_MS };
      // If the first reply was lost, the upload is not there any more; whether the object is, is read afterwards.
      await unlessAbsent(call({ method: 'POST', ...request }));
    },
    async abortUpload({ name, id: uploadId }) {
      await unlessAbsent(call({ method: 'DELETE', name, query: { uploadId } }));
    },
    async listUploads(beginning) {
      const pages = await listPages(
        'ListMultipartUploadsResult',
        { uploads: '', prefix: beginning },
        ({ fields }) => ({
          'key-marker': fields['NextKeyMarker'] ?? '',
          'upload-id-marker': fields['NextUploadIdMarker'] ?? '',
        }),
      );
      return pages.flatMap(({ lists }) =>
        (lists['Upload'] ?? []).map(({ Key: name = '', UploadId: id = '' }) => ({ name, id })),
      );
    },
  };
}

/** A server may begin a reply of success before it knows how the operation ends. */
async function bodyOf({ method, name }: BucketRequest, reply: IncomingMessage): Promise<string> {
  const what = `${method} ${name ?? 'of the bucket'}`;
  const body = await text(reply).catch((error: unknown) => {
    throw asBucketError(what, error);
  });
  if (method === 'GET' && name !== undefined) return body;
  const { root, fields } = readXml(body);
  if (root !== 'Error') return body;
  const { Code: code = '', Message: message = '' } = fields;
  throw new BucketError(`${what}: ${code} ${message}`, { status: 200, code });
}

/** A different length would not be noticed otherwise: what follows the wanted bytes is not read. */
function requireLength(
  name: string,
  { reply, wanted, isFirst }: { reply: IncomingMessage; wanted: number; isFirst: boolean },
): void {
  const isPart = reply.statusCode === 206 || (isFirst && reply.statusCode === 200);
  const length = Number(reply.headers['content-length']);
  if (isPart && length === wanted) return;
  reply.destroy();
  const status = reply.statusCode ?? 0;
  if (!isPart) throw new BucketError(`GET ${name}: the server ignores ranges`, { status });
  throw new BucketError(`GET ${name}: ${length} bytes are left, not ${wanted}`, { status });
}

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BucketError && ABSENT.has(error.code)) return undefined;
    throw error;
  }
}
const ABSENT = new Set(['NoSuchKey', 'NoSuchUpload']);
