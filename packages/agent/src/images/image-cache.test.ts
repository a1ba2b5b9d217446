import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { createLog } from '@gantry/daemon/log';
import { MIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ImageCacheOptions, openImageCache } from './image-cache.ts';
import { imageFile, imageOfFile } from './image-file.ts';
import {
  type ImageServer,
  imageOf,
  makeImageBytes,
  startImageServer,
} from './testing/image-server.ts';

const bytes = makeImageBytes(1);
const log = createLog({ process: 'test', level: 'silent' });

let root = '';
let directory = '';
let server: ImageServer;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-images-'));
  directory = join(root, 'images');
  server = await startImageServer();
});
afterEach(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

const openCache = (options: Partial<ImageCacheOptions> = {}) =>
  openImageCache({
    ...{ directory, log, limitBytes: 100 * MIB, listUsed: async () => new Set<string>() },
    ...options,
  });
const serve = (body: Buffer) => {
  server.reply = (_, response) => response.end(body);
};
/** Expects a failure with the code and reason of an unavailable image, and that nothing is left. */
const expectUnavailable = async (fetching: Promise<unknown>, reason: RegExp) => {
  await expect(fetching).rejects.toMatchObject({
    code: 'image_unavailable',
    message: expect.stringMatching(reason),
  });
  expect(await readdir(directory)).toEqual([]);
};

describe('an available image', () => {
  it('is downloaded by HTTP, stored read-only under its SHA-256, and requested once', async () => {
    serve(bytes);
    const cache = await openCache();
    const image = imageOf(bytes, server.url('/debian.raw'));
    const cached = {
      path: imageFile(directory, image.sha256),
      format: 'raw',
      virtualSizeBytes: MIB,
    };
    expect(await cache.fetch(image)).toEqual(cached);
    expect(await cache.fetch(image)).toEqual(cached);
    expect(await (await openCache()).fetch({ ...image, url: 'http://gone.test/' })).toEqual(cached);
    expect(server.asked).toEqual(['/debian.raw']);
    expect((await readFile(cached.path)).equals(bytes)).toBe(true);
    expect((await stat(cached.path)).mode & 0o777).toBe(0o444);
    expect((await stat(directory)).mode & 0o777).toBe(0o711);
  });

  it('is fetched from a scheduler if it is of a project, verified in the same way, and fetched once', async () => {
    const opened: string[] = [];
    const openStored = async (imageId: string) => {
      opened.push(imageId);
      return { stream: Readable.from([bytes]), sizeBytes: bytes.length };
    };
    const cache = await openCache({ openStored });
    const image = { ...imageOf(bytes, ''), id: 'image-1' };
    await Promise.all([cache.fetch(image), cache.fetch(image)]);
    expect((await readFile(imageFile(directory, image.sha256))).equals(bytes)).toBe(true);
    expect(opened).toEqual(['image-1']);
    const other = { ...image, sha256: '0'.repeat(64), id: 'image-2' };
    await expect(cache.fetch(other)).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringMatching(/cannot be downloaded from a scheduler: its SHA-256 is/),
    });
    expect(await readdir(directory)).toEqual([`${image.sha256}.img`]);
  });

  it('is downloaded once for any number of callers', async () => {
    serve(bytes);
    const cache = await openCache();
    const image = imageOf(bytes, server.url('/debian.raw'));
    await Promise.all(Array.from({ length: 20 }, () => cache.fetch(image)));
    expect(server.asked).toHaveLength(1);
    expect(await readdir(directory)).toEqual([`${image.sha256}.img`]);
  });

  it('is read from a file', async () => {
    const file = join(root, 'an image.raw');
    await writeFile(file, bytes);
    const image = imageOf(bytes, pathToFileURL(file).href);
    expect(await (await openCache()).fetch(image)).toMatchObject({ format: 'raw' });
  });

  it('is downloaded after redirects', async () => {
    server.reply = ({ url }, response) =>
      url === '/a'
        ? response.writeHead(302, { location: '/b' }).end()
        : response.writeHead(200).end(bytes);
    await (await openCache()).fetch(imageOf(bytes, server.url('/a')));
    expect(server.asked).toEqual(['/a', '/b']);
  });

  it('is downloaded after a failed attempt', async () => {
    const cache = await openCache();
    const image = imageOf(bytes, server.url('/debian.raw'));
    await expectUnavailable(cache.fetch(image), /404/);
    serve(bytes);
    await cache.fetch(image);
  });
});

describe('an unavailable image', () => {
  it('has another checksum', async () => {
    serve(makeImageBytes(2));
    const fetching = (await openCache()).fetch(imageOf(bytes, server.url('/')));
    await expectUnavailable(fetching, /SHA-256 is [0-9a-f]{64} and should be/);
  });

  it('is truncated', async () => {
    server.reply = (_, response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, MIB / 2), () => response.destroy());
    };
    const fetching = (await openCache()).fetch(imageOf(bytes, server.url('/')));
    await expectUnavailable(fetching, /closed before the download was complete/);
  });

  it('stalls', async () => {
    server.reply = (_, response) => response.write(bytes.subarray(0, MIB / 2));
    const cache = await openCache({ limits: { stallMs: 50 } });
    await expectUnavailable(cache.fetch(imageOf(bytes, server.url('/'))), /no data for/);
  });

  it('never starts', async () => {
    server.reply = () => {};
    const cache = await openCache({ limits: { replyMs: 50 } });
    await expectUnavailable(cache.fetch(imageOf(bytes, server.url('/'))), /no reply within/);
  });

  it('never ends', async () => {
    server.reply = (_, response) => {
      const more = () => response.write(bytes, (error) => !error && more());
      more();
    };
    const cache = await openCache({ largestBytes: 3 * MIB });
    await expectUnavailable(cache.fetch(imageOf(bytes, server.url('/'))), /more than 3145728/);
  });

  it('has a server that refuses the request', async () => {
    const url = server.url('/');
    await server.close();
    await expectUnavailable((await openCache()).fetch(imageOf(bytes, url)), /refused/);
  });

  it('is redirected endlessly, or to a file of the host', async () => {
    const cache = await openCache();
    const image = imageOf(bytes, server.url('/'));
    server.reply = (_, response) => response.writeHead(302, { location: '/' }).end();
    await expectUnavailable(cache.fetch(image), /redirected more than 5 times/);
    const file = join(root, 'image');
    await writeFile(file, bytes);
    server.reply = (_, response) =>
      response.writeHead(302, { location: pathToFileURL(file).href }).end();
    await expectUnavailable(cache.fetch(image), /not by file/);
  });

  it.each([
    ['file:///nowhere/image.raw', /no such file/],
    ['file:///dev/null', /not a regular file/],
    ['ftp://images.test/image', /not by ftp/],
    ['image.raw', /not a URL/],
  ])('lies at %s', async (url, reason) => {
    await expectUnavailable((await openCache()).fetch(imageOf(bytes, url)), reason);
  });

  it.each(['', 'ab', '../../etc/passwd', 'A'.repeat(64)])('has the SHA-256 %j', async (sha256) => {
    const image = { ...imageOf(bytes, server.url('/')), sha256 };
    await expectUnavailable((await openCache()).fetch(image), /no SHA-256/);
    expect(server.asked).toEqual([]);
  });

  it('is reported with its source, without the secrets in it', async () => {
    const url = server.url('/debian.raw?signature=hidden').replace('//', '//name:hidden@');
    const failure = (await openCache()).fetch(imageOf(bytes, url));
    await expectUnavailable(failure, /from http:\/\/127\.0\.0\.1:\d+\/debian\.raw: /);
    await expect(failure).rejects.not.toThrow('hidden');
  });
});

describe('the cache', () => {
  /** In the given order, the least recently used first. */
  const fill = async (count: number) => {
    await mkdir(directory, { recursive: true });
    const images = Array.from({ length: count }, (_, n) => makeImageBytes(100 + n));
    for (const [n, image] of images.entries()) {
      const file = imageFile(directory, imageOf(image, '').sha256);
      await writeFile(file, image, { mode: 0o444 });
      await utimes(file, 1000 + n, 1000 + n);
    }
    return images.map((image) => imageOf(image, 'http://gone.test/'));
  };
  const kept = async () => new Set((await readdir(directory)).map(imageOfFile));

  it('evicts the least recently used image, and never one that a disk uses', async () => {
    const [oldest, used, next, last] = (await fill(4)).map(({ sha256 }) => sha256);
    serve(bytes);
    const listUsed = async () => new Set([used ?? '']);
    const cache = await openCache({ limitBytes: 3 * MIB, listUsed });
    const image = imageOf(bytes, server.url('/'));
    await cache.fetch(image);
    expect(await kept()).toEqual(new Set([used, last, image.sha256]));
    expect(await kept()).not.toContain(oldest);
    expect(await kept()).not.toContain(next);
  });

  it('counts a fetch of a cached image as a use', async () => {
    const [first, second] = await fill(2);
    serve(bytes);
    const cache = await openCache({ limitBytes: 2 * MIB });
    if (first) await cache.fetch(first);
    await cache.fetch(imageOf(bytes, server.url('/')));
    expect(await kept()).toContain(first?.sha256);
    expect(await kept()).not.toContain(second?.sha256);
  });

  it('never evicts an image that work in progress uses', async () => {
    const [first] = await fill(1);
    serve(bytes);
    const cache = await openCache({ limitBytes: MIB });
    if (!first) throw new Error('nothing was filled in');
    await cache.use(first, async ({ path }) => {
      await cache.fetch(imageOf(bytes, server.url('/')));
      expect((await stat(path)).size).toBe(MIB);
    });
  });

  it('keeps an image whose disk is created while others are evicted', async () => {
    const [first] = await fill(1);
    if (!first) throw new Error('nothing was filled in');
    serve(bytes);
    const disks = new Set<string>();
    let finish = () => {};
    const listUsed = async () => {
      const seen = new Set(disks);
      finish();
      await new Promise(setImmediate);
      return seen;
    };
    const cache = await openCache({ limitBytes: MIB, listUsed });
    const using = cache.use(first, async ({ path }) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      disks.add(first.sha256);
      return path;
    });
    await cache.fetch(imageOf(bytes, server.url('/')));
    expect((await stat(await using)).size).toBe(MIB);
  });

  it('returns no image that is being evicted', async () => {
    const [first] = await fill(1);
    if (!first) throw new Error('nothing was filled in');
    server.reply = ({ url }, response) =>
      response.end(url === '/first' ? makeImageBytes(100) : bytes);
    let using: Promise<number> | undefined;
    let done = () => {};
    const evicted = new Promise<void>((resolve) => {
      done = resolve;
    });
    const cache = await openCache({
      limitBytes: MIB,
      async listUsed() {
        using ??= cache.use({ ...first, url: server.url('/first') }, async ({ path }) => {
          await evicted;
          return (await stat(path)).size;
        });
        // Long enough to look an image up, if that were possible now.
        for (let turn = 0; turn < 20; turn += 1) await stat(directory);
        return new Set();
      },
    });
    await cache.fetch(imageOf(bytes, server.url('/second')));
    done();
    expect(await using).toBe(MIB);
  });

  it('keeps everything if it cannot determine what is used', async () => {
    await fill(2);
    serve(bytes);
    const listUsed = () => Promise.reject(new Error('the disks cannot be read'));
    await (await openCache({ limitBytes: MIB, listUsed })).fetch(imageOf(bytes, server.url('/')));
    expect((await kept()).size).toBe(3);
  });

  it('finds the images of an earlier version, which had no suffix, and evicts both names', async () => {
    const [earlier] = await fill(1);
    if (!earlier) throw new Error('nothing was filled in');
    await rename(imageFile(directory, earlier.sha256), join(directory, earlier.sha256));
    const cache = await openCache({ limitBytes: MIB });
    expect((await cache.fetch(earlier)).path).toBe(imageFile(directory, earlier.sha256));
    // A disk of the earlier version names the file without a suffix.
    expect((await readdir(directory)).sort()).toEqual([earlier.sha256, `${earlier.sha256}.img`]);
    expect(server.asked).toEqual([]);
    serve(bytes);
    const image = imageOf(bytes, server.url('/'));
    await cache.fetch(image);
    expect(await readdir(directory)).toEqual([`${image.sha256}.img`]);
  });

  it.runIf(process.getuid?.() === 0)('takes back images that belong to another user', async () => {
    const [image = imageOf(bytes, '')] = await fill(1);
    await chown(imageFile(directory, image.sha256), 65534, 65534);
    const { path } = await (await openCache()).fetch(image);
    expect((await stat(path)).uid).toBe(0);
  });

  it('does not take a partial image for complete while an earlier process still downloads it', async () => {
    const image = imageOf(bytes, server.url('/'));
    let finish = () => {};
    server.reply = (_, response) => {
      response.write(bytes.subarray(0, MIB / 2));
      finish = () => response.end(bytes.subarray(MIB / 2));
    };
    const earlier = (await openCache()).fetch(image).catch(() => null);
    await expect.poll(() => readdir(directory)).toHaveLength(1);
    const finishEarlier = finish;
    const later = (await openCache()).fetch(image);
    await expect.poll(() => server.asked.length).toBe(2);
    finishEarlier();
    await earlier;
    finish();
    expect((await readFile((await later).path)).equals(bytes)).toBe(true);
    expect(await readdir(directory)).toEqual([`${image.sha256}.img`]);
  });

  it('keeps an image that is larger than the limit while it is fetched', async () => {
    serve(bytes);
    const cache = await openCache({ limitBytes: 1 });
    expect((await stat((await cache.fetch(imageOf(bytes, server.url('/')))).path)).size).toBe(MIB);
  });

  it('removes what a killed process left, and no other files', async () => {
    await mkdir(directory);
    const { sha256 } = imageOf(bytes, '');
    await writeFile(join(directory, `${sha256}.00ff.new`), 'half');
    await writeFile(join(directory, 'notes.txt'), 'the operator’s');
    await openCache();
    expect(await readdir(directory)).toEqual(['notes.txt']);
  });
});
