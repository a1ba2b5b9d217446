import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { MIB } from '@gantry/daemon/units';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueServerCertificate } from '@gantry/pki/issue-certificate';
import { fillDisk } from '@gantry/testkit/faults/full-disk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LeaseLost } from '../../lease-writes.ts';
import { shownReason } from '../../storage-failure.ts';
import { held, manifestOf, newKey, readBack } from '../testing/backup-files-contract.ts';
import { type FaultPeer, replyWith, startFaultPeer } from '../testing/fault-peer.ts';
import { openBucket } from './bucket.ts';
import { openBucketFiles } from './bucket-files.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { uploadFile } from './upload-file.ts';

let directory: string;
let peer: FaultPeer | undefined;
const stopping = new AbortController();
const patience = { silenceMs: 200, pauseMs: 1 };
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-bucket-'));
});
afterEach(() => peer?.stop());
afterAll(() => rm(directory, { recursive: true, force: true }));

type Reply = (request: IncomingMessage, response: ServerResponse) => void;
const start = async (reply: Reply) => {
  peer = await startFaultPeer(reply);
  return peer;
};
const open = ({ settings }: { settings: BucketSettings }) =>
  openBucket({ settings, stopping: stopping.signal, patience });
const silent: Reply = () => {};

const emptyLists: Reply = (request, response) => {
  const root = request.url?.includes('uploads') ? 'ListMultipartUploadsResult' : 'ListBucketResult';
  void replyWith(request, response, { body: `<${root}></${root}>` });
};

describe('a silent endpoint', () => {
  it('is given up after three tries', async () => {
    const { settings, requests } = await start(silent);
    await expect(open({ settings }).list('x')).rejects.toMatchObject({
      ...{ name: 'BucketError', message: expect.stringContaining('silent for 200 ms') },
    });
    expect(requests).toHaveLength(3);
  });

  it('fails a backup with a reason that has its address only in the cause', async () => {
    const { settings } = await start(silent);
    const options = { settings, stopping: stopping.signal, patience };
    const files = openBucketFiles({ ...options, spool: directory });
    const error = await files.prepare(newKey(), held).catch((each: Error) => each);
    expect(error).toMatchObject({ name: 'StorageError', code: 'failed' });
    expect(shownReason(error as Error)).toBe('the bucket of backups does not reply');
    expect((error as Error).cause).toMatchObject({
      message: expect.stringContaining(`${settings.endpoint}/bucket`),
    });
  });

  it('keeps no scheduler from stopping: another one repeats the attempt', async () => {
    const { settings } = await start(() => end.abort());
    const end = new AbortController();
    const bucket = openBucket({ settings, stopping: end.signal });
    await expect(bucket.list('x')).rejects.toBeInstanceOf(LeaseLost);
    await expect(bucket.list('x')).rejects.toBeInstanceOf(LeaseLost);
  });
});

describe('a reply that ends early', () => {
  const content = randomBytes(100_000);
  /** Sends at most this much of the wanted range, and then closes the connection. */
  const cutAfter =
    (bytes: number): Reply =>
    (request, response) => {
      const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
      const wanted = content.subarray(Number(from));
      response.writeHead(206, { 'content-length': wanted.length });
      response.write(wanted.subarray(0, bytes), () => {
        if (wanted.length <= bytes) response.end();
        else response.destroy();
      });
    };

  it('is continued where it ended, so that the content is complete', async () => {
    const { settings, requests } = await start(cutAfter(30_000));
    const read = open({ settings }).read('object', content.length);
    expect((await buffer(read)).equals(content)).toBe(true);
    expect(requests).toHaveLength(4);
  });

  it('is an error if nothing more arrives', async () => {
    const { settings, requests } = await start(cutAfter(0));
    const read = open({ settings }).read('object', content.length);
    await expect(buffer(read)).rejects.toMatchObject({ name: 'BucketError' });
    expect(requests).toHaveLength(3);
  });

  it('is an error at once if the object has another length', async () => {
    const { settings, requests } = await start(cutAfter(content.length));
    const read = open({ settings }).read('object', content.length - 1);
    await expect(buffer(read)).rejects.toThrow('100000 bytes are left, not 99999');
    expect(requests).toHaveLength(1);
  });
});

describe('an upload in parts', () => {
  const STARTED =
    '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>';
  let file: string;
  beforeAll(async () => {
    file = path.join(directory, 'large');
    await writeFile(file, randomBytes(2.5 * MIB));
  });
  const upload = (settings: BucketSettings) =>
    uploadFile(open({ settings }), { file, name: 'object', partBytes: MIB });
  const isPart = (request: IncomingMessage) => request.url?.includes('partNumber=2') === true;
  const reply: Reply = (request, response) => {
    const headers = { etag: '"tag"' };
    const body = request.url?.includes('uploads') ? STARTED : '';
    void replyWith(request, response, { body, headers });
  };
  /** Replies in the middle of the body, and closes the connection. */
  const breakPart: Reply = (request, response) => {
    request.once('data', () => {
      response.writeHead(500, { connection: 'close' }).end();
      request.destroy();
    });
  };

  it('repeats a part that failed in the middle', async () => {
    let broken = 0;
    const { settings, requests } = await start((request, response) => {
      if (isPart(request) && broken++ === 0) breakPart(request, response);
      else reply(request, response);
    });
    await upload(settings);
    expect(requests.filter((each) => each.includes('partNumber=2'))).toHaveLength(2);
    expect(requests.at(-1)).toBe('POST /bucket/object?uploadId=u1');
  });

  it('is aborted if a part fails again and again', async () => {
    const { settings, requests } = await start((request, response) =>
      (isPart(request) ? breakPart : reply)(request, response),
    );
    await expect(upload(settings)).rejects.toMatchObject({ name: 'BucketError' });
    expect(requests.filter((each) => each.includes('partNumber=2'))).toHaveLength(3);
    expect(requests.at(-1)).toBe('DELETE /bucket/object?uploadId=u1');
  });

  it('is aborted if the reply of success has an error in it', async () => {
    const body = '<Error><Code>InvalidPart</Code><Message>x</Message></Error>';
    const { settings, requests } = await start((request, response) =>
      request.method === 'POST' && request.url?.includes('uploadId')
        ? void replyWith(request, response, { body })
        : reply(request, response),
    );
    await expect(upload(settings)).rejects.toMatchObject({ code: 'InvalidPart' });
    expect(requests.at(-1)).toBe('DELETE /bucket/object?uploadId=u1');
  });
});

describe('the spool', () => {
  it('fails a backup if it is not there, with its path only for operators', async () => {
    const { settings, requests } = await start(silent);
    const spool = path.join(directory, 'not-mounted');
    const files = openBucketFiles({ settings, spool, stopping: stopping.signal });
    const error = await files.prepare(newKey(), held).catch((each: Error) => each);
    expect((error as Error).message).toContain(spool);
    expect(shownReason(error as Error)).toMatch(
      /^the directory of backups … cannot be used: ENOENT/,
    );
    expect(requests).toEqual([]);
  });

  it('fails a restore if it is full, and keeps nothing of the file', async () => {
    const key = newKey();
    const name = `${key.disk_id}/${key.id}.a`;
    const content = randomBytes(100_000);
    const manifest = JSON.stringify(manifestOf(key, content));
    const list = [`${name}.diff`, `${name}.json`].map(
      (each) => `<Contents><Key>${each}</Key></Contents>`,
    );
    const { settings } = await start((request, response) => {
      const isList = request.url?.includes('list-type');
      if (isList) {
        const body = `<ListBucketResult>${list.join('')}</ListBucketResult>`;
        return void replyWith(request, response, { body });
      }
      if (request.url?.endsWith('.json'))
        return void replyWith(request, response, { body: manifest });
      response.writeHead(206, { 'content-length': content.length }).end(content);
    });
    const spool = await mkdtemp(path.join(directory, 'full-'));
    const files = openBucketFiles({ settings, spool, stopping: stopping.signal });
    const empty = await fillDisk(process.pid);
    const error = await readBack(files, [key, content]).catch((each: Error) => each);
    await empty();
    expect(shownReason(error as Error)).toMatch(
      /^the directory of backups … cannot be used: EFBIG/,
    );
    expect(await readdir(spool)).toEqual([]);
    expect(await readBack(files, [key, content])).toEqual([content]);
  });

  it('loses what a killed scheduler left when it is opened, and keeps everything else', async () => {
    const { settings } = await start(emptyLists);
    const spool = await mkdtemp(path.join(directory, 'spool-'));
    const others = ['1.diff', '2.abc.another-machine.spool'];
    for (const name of others) await writeFile(path.join(spool, name), '');
    const options = { settings, spool, stopping: stopping.signal };
    const killed = await openBucketFiles(options).prepare(newKey(), held);
    await writeFile(killed, 'half');
    expect(await readdir(spool)).toHaveLength(3);
    openBucketFiles(options);
    await expect.poll(() => readdir(spool)).toEqual(others);
  });
});

describe('an endpoint whose certificate is signed by an authority of the operator', () => {
  it('is reached if the authority is given, and refused otherwise', async () => {
    const files = makeAuthority();
    const { pem: cert, privateKeyPem: key } = issueServerCertificate(loadAuthority(files), {
      ...{ names: ['127.0.0.1'], ttlMs: 3_600_000 },
    });
    peer = await startFaultPeer(emptyLists, { key, cert });
    const { settings } = peer;
    await expect(open({ settings }).list('x')).rejects.toThrow(/certificate/);
    const trusting = { ...settings, authorities: files.certificatePem };
    expect(await open({ settings: trusting }).list('x')).toEqual([]);
  });
});
