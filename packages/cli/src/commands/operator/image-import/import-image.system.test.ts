import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ScriptedServer, startScriptedServer } from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from '../../../testing/run-cli.ts';
import {
  digest,
  type ImageMirror,
  makeTestKey,
  startImageMirror,
  type TestKey,
} from './testing/image-mirror.ts';

const IMAGE = Buffer.alloc(300_000, 'an image');
const SERVER = 'images.example.com';
const FOLDER = `/${SERVER}/releases/12`;
const SUMS = Buffer.from(`${digest('sha256', IMAGE)} *signed.img\n`);

const hasGpg = ['gpg', 'gpgv'].every((program) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

// scripts/debian-packages.mjs installs gpg for this suite, if it may.
describe.skipIf(!hasGpg)('an import from a mirror', () => {
  let cli: TestCli;
  let api: ScriptedServer;
  let mirror: ImageMirror;
  let key: TestKey;
  let images: Record<string, unknown>[];

  beforeEach(async () => {
    cli = await makeTestCli();
    mirror = await startImageMirror();
    key = makeTestKey(cli.home, 'distribution');
    images = [{ id: 'i1', name: 'signed', source_url: '', sha256: '', locations: ['eu'] }];
    api = await startScriptedServer(({ line, body }) => {
      if (line === 'GET /v0.1/admin/images') return { status: 200, body: { items: images } };
      if (line.startsWith('GET /v0.1/locations'))
        return { status: 200, body: { items: [{ name: 'eu' }, { name: 'us' }] } };
      const given = JSON.parse(body || '{}');
      const image = line.startsWith('PATCH') ? { ...images[0], ...given } : { id: 'new', ...given };
      images = [...images.filter(({ id }) => id !== image.id), image];
      return { status: 200, body: image };
    });
    mirror.files.set(`${FOLDER}/signed.img`, IMAGE);
    mirror.files.set(`${FOLDER}/pinned.img`, IMAGE);
    mirror.files.set(`${FOLDER}/SHA256SUMS`, SUMS);
    mirror.files.set(`${FOLDER}/SHA256SUMS.gpg`, key.sign(SUMS));
    await writeList();
  });
  afterEach(async () => {
    key.remove();
    await mirror.stop();
    await api.stop();
    await cli.remove();
  });

  const listFile = () => path.join(cli.home, 'list.json');
  const writeList = async (pin = digest('sha512', IMAGE), more: object[] = []) => {
    const sums = { algorithm: 'sha256', file: 'SHA256SUMS', signature: 'SHA256SUMS.gpg' };
    const common = { description: 'A distribution', tags: ['linux'], build: '1' };
    const url = (name: string) => `https://${SERVER}/releases/12/${name}.img`;
    const list = {
      ...{ date: '2026-01-01', keys: { distribution: key.key } },
      images: [
        {
          ...{ name: 'signed', ...common, sums: { ...sums, key: 'distribution' } },
          files: { amd64: { url: url('signed') } },
        },
        {
          ...{ name: 'pinned', ...common, pinned: 'It signs nothing.' },
          files: { amd64: { url: url('pinned'), sha512: pin } },
        },
        ...more,
      ],
    };
    await writeFile(listFile(), JSON.stringify(list));
  };
  const run = (...args: string[]) =>
    cli.run(['image', 'import', '--list', listFile(), '--mirror', mirror.url, ...args], {
      env: { GANTRY_URL: api.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
    });
  const imageOf = (name: string) => images.find((image) => image['name'] === name);

  it('gives a source to the images of a new installation, and adds the others', async () => {
    const { code, stdout } = await run('--all');
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/signed +1 +updated +signed by distribution/);
    expect(stdout).toMatch(/pinned +1 +created +pinned checksum/);
    const source = (name: string) => ({
      source_url: `${mirror.url}${FOLDER}/${name}.img`,
      sha256: digest('sha256', IMAGE),
    });
    expect(imageOf('signed')).toMatchObject({ ...source('signed'), locations: ['eu'] });
    expect(imageOf('pinned')).toMatchObject({ ...source('pinned'), locations: ['eu', 'us'] });
    const again = await run('--all');
    expect(again.stdout).toMatch(/signed +1 +unchanged.*pinned +1 +unchanged/s);
  });

  it('follows a redirect to another server, and verifies what it finds there', async () => {
    const elsewhere = await startImageMirror();
    try {
      const location = `${elsewhere.url}/there`;
      mirror.files.set(`${FOLDER}/signed.img`, (_, response) =>
        response.writeHead(302, { location }).end(),
      );
      elsewhere.files.set('/there', Buffer.from('something else'));
      expect(await run('signed')).toMatchObject({ code: 9 });
      expect(imageOf('signed')).toMatchObject({ source_url: '' });
      elsewhere.files.set('/there', IMAGE);
      expect(await run('signed')).toMatchObject({ code: 0 });
    } finally {
      await elsewhere.stop();
    }
  });

  const refusals: [string, RegExp, () => unknown][] = [
    [
      'a signature of another key',
      /SHA256SUMS: the signature of the key [0-9A-F]{40} \(distribution\) is not valid/,
      () => {
        const other = makeTestKey(cli.home, 'stranger');
        mirror.files.set(`${FOLDER}/SHA256SUMS.gpg`, other.sign(SUMS));
        other.remove();
      },
    ],
    [
      'checksums that were changed after they were signed',
      /SHA256SUMS: the signature .* is not valid/,
      () => {
        const forged = `${digest('sha256', Buffer.from('forged'))} *signed.img\n`;
        mirror.files.set(`${FOLDER}/SHA256SUMS`, Buffer.from(forged));
        mirror.files.set(`${FOLDER}/signed.img`, Buffer.from('forged'));
      },
    ],
    [
      'no signature',
      /SHA256SUMS.gpg: the server replied with status 404/,
      () => mirror.files.delete(`${FOLDER}/SHA256SUMS.gpg`),
    ],
    [
      'an image with another checksum',
      /signed.img: its sha256 is [0-9a-f]{64} and should be [0-9a-f]{64}/,
      () => mirror.files.set(`${FOLDER}/signed.img`, Buffer.from('other')),
    ],
    [
      'a download that ends early',
      /signed.img: the download ended after \d+/,
      () =>
        mirror.files.set(`${FOLDER}/signed.img`, (_, response) => {
          response.writeHead(200, { 'content-length': IMAGE.length });
          response.write(IMAGE.subarray(0, 1000), () => response.destroy());
        }),
    ],
    [
      'a redirect to a file of the computer',
      /only http and https can be imported/,
      () =>
        mirror.files.set(`${FOLDER}/signed.img`, (_, response) =>
          response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
        ),
    ],
    [
      'redirects without end',
      /redirected more than 5 times/,
      () =>
        mirror.files.set(`${FOLDER}/signed.img`, (request, response) =>
          response.writeHead(302, { location: request.url ?? '' }).end(),
        ),
    ],
  ];

  it.each(refusals)('refuses %s and adds nothing', async (_, message, spoil) => {
    spoil();
    const { code, stderr } = await run('signed');
    expect(stderr).toMatch(message);
    expect(code).toBe(9);
    expect(images).toEqual([expect.objectContaining({ source_url: '' })]);
  });

  it('refuses another pinned checksum, and still imports the other images', async () => {
    await writeList(digest('sha512', Buffer.from('another build')));
    const { code, stderr, stdout } = await run('--all');
    expect(stderr).toMatch(/pinned.img: its sha512 is/);
    expect(stdout).toMatch(/signed +1 +updated.*pinned +1 +failed/s);
    expect({ code, pinned: imageOf('pinned') }).toEqual({ code: 9, pinned: undefined });
  });

  describe('of an image that has a signed file of its own, and a pinned checksum', () => {
    const sums = `# own.img: ${IMAGE.length} bytes\nSHA256 (own.img) = ${digest('sha256', IMAGE)}\n`;
    const file = '{image}.CHECKSUM';
    const writeOwn = async (sha256: string) => {
      const common = { name: 'own', description: 'A distribution', tags: ['linux'], build: '1' };
      const key = { algorithm: 'sha256', file, signature: `${file}.asc`, key: 'distribution' };
      const amd64 = { url: `https://${SERVER}/releases/12/own.img`, sha256 };
      await writeList(undefined, [{ ...common, sums: key, files: { amd64 } }]);
      mirror.files.set(`${FOLDER}/own.img`, IMAGE);
      mirror.files.set(`${FOLDER}/own.img.CHECKSUM`, Buffer.from(sums));
    };

    it('verifies a signature in the form of text', async () => {
      await writeOwn(digest('sha256', IMAGE));
      mirror.files.set(`${FOLDER}/own.img.CHECKSUM.asc`, key.signAsText(Buffer.from(sums)));
      const { code, stdout } = await run('own');
      expect({ code, stdout }).toMatchObject({ code: 0 });
      expect(stdout).toMatch(/own +1 +created +signed by distribution/);
      const forged = key.signAsText(Buffer.from('something else'));
      mirror.files.set(`${FOLDER}/own.img.CHECKSUM.asc`, forged);
      expect(await run('own', '--name', 'own-2')).toMatchObject({ code: 9 });
      expect(imageOf('own-2')).toBeUndefined();
    });

    it('refuses a signed checksum that is not the pinned one', async () => {
      await writeOwn(digest('sha256', Buffer.from('another build')));
      mirror.files.set(`${FOLDER}/own.img.CHECKSUM.asc`, key.signAsText(Buffer.from(sums)));
      const { code, stderr } = await run('own');
      expect(stderr).toMatch(
        /own.img.CHECKSUM: its sha256 of own.img is [0-9a-f]{64}, and the list has/,
      );
      expect({ code, own: imageOf('own') }).toEqual({ code: 9, own: undefined });
    });

    it('prints the addresses of the files that a mirror needs', async () => {
      await writeOwn(digest('sha256', IMAGE));
      const { stdout } = await run('own', 'pinned', '--dry-run', '--output', 'json');
      const url = `${mirror.url}${FOLDER}/own.img`;
      const [own, pinned] = JSON.parse(stdout);
      expect(own).toMatchObject({
        ...{ url, sums_url: `${url}.CHECKSUM`, signature_url: `${url}.CHECKSUM.asc` },
      });
      expect(pinned).not.toHaveProperty('sums_url');
    });
  });

  it('does not change the source of an image that VMs may have', async () => {
    images = [{ id: 'i1', name: 'signed', source_url: 'https://old', sha256: 'f'.repeat(64) }];
    const { code, stderr } = await run('signed');
    expect(stderr).toContain('the image signed exists and has another build');
    expect(code).toBe(9);
    expect(await run('signed', '--name', 'signed-2')).toMatchObject({ code: 0 });
    expect(imageOf('signed')).toMatchObject({ source_url: 'https://old' });
  });

  it('of a URL needs a name and a checksum, which the image must have', async () => {
    const url = `${mirror.url}${FOLDER}/signed.img`;
    const own = (...args: string[]) =>
      cli.run(['image', 'import', url, ...args], {
        env: { GANTRY_URL: api.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' },
      });
    expect((await own('--name', 'own')).stderr).toContain('--sha256');
    expect((await own('--sha256', digest('sha256', IMAGE))).stderr).toContain('--name');
    const wrong = await own('--name', 'own', '--sha256', 'a'.repeat(64));
    expect({ code: wrong.code, own: imageOf('own') }).toEqual({ code: 9, own: undefined });
    const right = await own('--name', 'own', '--sha256', digest('sha256', IMAGE));
    expect(right).toMatchObject({ code: 0 });
    expect(imageOf('own')).toMatchObject({ source_url: url, locations: ['eu', 'us'] });
  });

  it('prints what it would import, and downloads nothing', async () => {
    mirror.files.clear();
    const { code, stdout } = await run('--all', '--dry-run', '--output', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'signed', url: `${mirror.url}${FOLDER}/signed.img`, outcome: 'not imported' },
      { name: 'pinned' },
    ]);
    expect(api.seen).toEqual([]);
  });
});
