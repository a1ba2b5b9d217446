import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import { makePrivateKey, privateKeyPem, publicKeyOf } from '@gantry/pki/keys';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saveIdentity } from '../identity/state-files.ts';
import { runCli } from './cli.ts';

async function run(args: string[], more: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const status = await runCli({
    args,
    // A folder without devices or sockets: the machine the test runs on does not matter.
    env: {
      GANTRY_SYSFS_ROOT: import.meta.dirname,
      GANTRY_LIBVIRT_SOCKET: '/nonexistent/sock',
      // KVM is not probed.
      GANTRY_ACCELERATOR: 'tcg',
      ...more,
    },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { status, out, err };
}

describe('gantry-agent', () => {
  it('prints the inventory as JSON, and nothing else, on standard output', async () => {
    const { status, out, err } = await run(['inventory']);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ devices: [], software: { libvirt: '' } });
    expect(err).toContain('no libvirt version');
  });

  it('reads from the environment what sysfs cannot know', async () => {
    const { out, err } = await run(['inventory'], {
      GANTRY_SHARED_STORAGE: '1',
      GANTRY_ENFORCE_BANDWIDTH: '1',
      GANTRY_NVLINK_PAIRS: '0000:41:00.0-0000:42:00.0',
    });
    expect(JSON.parse(out)).toMatchObject({
      sharedStorage: true,
      enforcesBandwidth: true,
      software: { agent: '0.1.0' },
    });
    expect(err).toContain('no GPU at 0000:41:00.0 and 0000:42:00.0');
  });

  it.each([
    { GANTRY_NVLINK_PAIRS: '41:00.0-42:00.0' },
    { GANTRY_SHARED_STORAGE: 'yes' },
    { GANTRY_ENFORCE_BANDWIDTH: '2' },
    { GANTRY_CORE: 'socket' },
    { GANTRY_HOST_CORES: '-1' },
    { GANTRY_HOST_MEMORY_GIB: '8G' },
    { GANTRY_HOST_MEMORY_PERCENT: '100' },
  ])('replies to %j with the name of the variable and status 2', async (env) => {
    const { status, out, err } = await run(['inventory'], env);
    expect(status).toBe(2);
    expect(out).toBe('');
    expect(err).toContain(Object.keys(env)[0]);
  });

  it.each(['--help', '-h', 'help'])('prints its usage on standard output for %s', async (asked) => {
    const { status, out, err } = await run([asked]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^usage: gantry-agent <command>\n/);
  });

  it.each([
    [['frobnicate']],
    [[]],
    [['inventory', 'extra']],
    [['doctor', '--xml']],
    [['run', '--fast']],
    [['toString']],
  ])('replies to %j with its usage and status 2', async (args) => {
    const { status, out, err } = await run(args);
    expect(status).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(/^usage: gantry-agent/);
  });
});

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-cli-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('gantry-agent enroll', () => {
  const good = {
    server: 'localhost:7443',
    token: 'gantry_jt_x',
    'ca-sha256': 'ab'.repeat(32),
    name: 'host-1',
  };
  const line = (options: Record<string, string | undefined>) =>
    Object.entries({ ...good, ...options }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    );

  it.each([
    ['--server', line({ server: undefined })],
    ['--server', line({ server: 'localhost' })],
    ['--token', line({ token: undefined })],
    ['--token', line({ token: '' })],
    ['--ca-sha256', line({ 'ca-sha256': undefined })],
    ['--ca-sha256', line({ 'ca-sha256': 'abcd' })],
    ['--colour', [...line({}), '--colour=red']],
    ["'extra'", [...line({}), 'extra']],
  ])('names %s if it is wrong, in one line, with status 2', async (option, args) => {
    const { status, out, err } = await run(['enroll', ...args], {
      GANTRY_STATE_DIRECTORY: directory,
    });
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/^gantry-agent: [^\n]+\n$/);
    expect(err).toContain(option);
  });

  it('reports that nothing listens there, with status 1', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise((resolve) => closed.close(resolve));
    const server = `127.0.0.1:${port}`;
    const { status, err } = await run(['enroll', ...line({ server })], {
      GANTRY_STATE_DIRECTORY: directory,
    });
    expect(status).toBe(1);
    expect(err).toContain(`${server} could not be reached`);
  });

  it('checks that it can store the identity before it sends the token', async () => {
    const { status, err } = await run(['enroll', ...line({})], {
      GANTRY_STATE_DIRECTORY: path.join(import.meta.filename, 'below-a-file'),
    });
    expect(status).toBe(1);
    expect(err).toContain('cannot be written');
  });
});

describe('gantry-agent doctor', () => {
  it('prints one line per finding, and its status is the worst of them', async () => {
    const { status, out, err } = await run(['doctor'], { GANTRY_STATE_DIRECTORY: directory });
    const lines = out.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^(ok {2}|warn|fail) {2}\S.*: \S/);
    // The folder it takes for sysfs has no IOMMU.
    expect(lines).toContainEqual(expect.stringMatching(/^fail {2}IOMMU: off.* -> /));
    expect({ status, err }).toEqual({ status: 2, err: '' });
  });

  it('prints the findings as JSON', async () => {
    const { status, out } = await run(['doctor', '--json'], { GANTRY_STATE_DIRECTORY: directory });
    expect(JSON.parse(out)).toContainEqual({
      ...{ check: 'enrolment', severity: 'warn', found: `nothing in ${directory}` },
      advice: expect.stringContaining('gantry-agent enroll'),
    });
    expect(status).toBe(2);
  });

  it('connects to the configured schedulers', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const doctor = () => run(['doctor'], { GANTRY_SCHEDULERS: `127.0.0.1:${port}` });
    try {
      expect((await doctor()).out).toContain(`ok    schedulers: 127.0.0.1:${port} can be reached`);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect((await doctor()).out).toContain(`fail  schedulers: 127.0.0.1:${port}: `);
  });
});

describe('gantry-agent run', () => {
  const env = () => ({ GANTRY_STATE_DIRECTORY: directory, GANTRY_SCHEDULERS: 'localhost:7443' });

  it.each([
    ['GANTRY_STAND_IN_DEVICES', { GANTRY_STAND_IN_DEVICES: 'yes' }],
    ['GANTRY_NVME_MODE', { GANTRY_NVME_MODE: 'tape' }],
    ['GANTRY_VOLUME_DRIVER', { GANTRY_VOLUME_DRIVER: 'floppy' }],
    ['GANTRY_VOLUME_GROUP', { GANTRY_VOLUME_DRIVER: 'lvm' }],
    ['GANTRY_NAMESERVERS', { GANTRY_NAMESERVERS: 'dns' }],
    ['GANTRY_IMAGE_CACHE_GIB', { GANTRY_IMAGE_CACHE_GIB: '0' }],
    ['GANTRY_HUGEPAGES_ABOVE_GIB', { GANTRY_HUGEPAGES_ABOVE_GIB: '64G' }],
    ['GANTRY_STORAGE_RESERVE_PERCENT', { GANTRY_STORAGE_RESERVE_PERCENT: '95' }],
    ['GANTRY_STORAGE_OVERCOMMIT_PERCENT', { GANTRY_STORAGE_OVERCOMMIT_PERCENT: '1.5' }],
  ])('names %s if it is wrong on an enrolled host: %j', async (variable, more) => {
    const key = makePrivateKey();
    const authority = loadAuthority(makeAuthority());
    const hostId = '01990000-0000-7000-8000-00000000abcd';
    const { pem } = issueHostCertificate(authority, {
      ...{ hostId, publicKey: publicKeyOf(key), ttlMs: 3_600_000, now: new Date() },
    });
    await saveIdentity(directory, {
      ...{ hostId, keyPem: privateKeyPem(key), certificatePem: pem },
      caPem: authority.certificatePem,
    });
    const { status, err } = await run(['run'], { ...env(), ...more });
    expect(status).toBe(2);
    expect(err).toMatch(new RegExp(`^gantry-agent: ${variable}`));
  });

  it.each([
    ['GANTRY_STATE_DIRECTORY', {}],
    ['GANTRY_SCHEDULERS', { GANTRY_SCHEDULERS: '' }],
    ['GANTRY_SCHEDULERS', { GANTRY_SCHEDULERS: 'localhost:7443,elsewhere' }],
  ])('names %s if it is wrong: %j', async (variable, more) => {
    const { status, err } = await run(['run'], { ...env(), ...more });
    expect(status).toBe(2);
    expect(err).toMatch(new RegExp(`^gantry-agent: ${variable}`));
  });
});
