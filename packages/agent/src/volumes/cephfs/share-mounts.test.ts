import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecError } from '@gantry/daemon/exec';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFailure } from '../../base/failure.ts';
import type { RunProgram } from '../../base/run-program.ts';
import { parseMounts } from './read-mounts.ts';
import { ShareMounts } from './share-mounts.ts';

const share = {
  ...{ monitors: ['10.0.0.1:3300', '10.0.0.2:3300'], fileSystem: 'fs', pool: 'p' },
  ...{ path: '/gantry/i/d/data', user: 'gantry-d-1', key: 'c2VjcmV0' },
};

let directory = '';
let calls: string[][];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-mounts-'));
  calls = [];
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const mounts = (
  run: RunProgram,
  options: { hasSystemd?: boolean; netns?: string; lookLimitMs?: number } = {},
) => new ShareMounts({ directory, hasSystemd: false, ...options, run });

const recorded: RunProgram = async (program, args) => {
  calls.push([program, ...args]);
  return '';
};

const failing = (details: Partial<Pick<ExecError, 'reason' | 'stderr'>>): RunProgram => {
  const cause = new ExecError('it failed', {
    ...{ reason: 'failed', stdout: '', stderr: '', cause: null, ...details },
  });
  return () => Promise.reject(new HostFailure('storage_failed', 'it failed', { cause }));
};

describe('the mount of a shared volume', () => {
  it('is made by ceph-fuse with a file that only root can read, and that is gone afterwards', async () => {
    let text = '';
    let mode = 0;
    const run: RunProgram = async (program, args) => {
      const file = args[args.indexOf('-c') + 1] ?? '';
      text = await readFile(file, 'utf8');
      mode = (await stat(file)).mode & 0o777;
      return await recorded(program, args);
    };
    expect(await mounts(run).ensure(share)).toBe(join(directory, 'gantry-d-1'));
    expect(text).toContain('mon_host = v2:10.0.0.1:3300,v2:10.0.0.2:3300\n');
    expect(text).toContain('client_mountpoint = /gantry/i/d/data\n');
    expect(text).toContain('client_mount_timeout = 5\n');
    expect(mode).toBe(0o600);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toEqual(expect.arrayContaining(['ceph-fuse', 'client.gantry-d-1']));
    expect(calls[0]?.join(' ')).not.toContain(share.key);
    expect(await readdir(directory)).toEqual(['gantry-d-1']);
  });

  it('outlives the agent in a scope of its own if the host has systemd', async () => {
    await mounts(recorded, { hasSystemd: true }).ensure(share);
    const [command = []] = calls;
    expect(command.slice(0, command.indexOf('ceph-fuse'))).toEqual([
      ...['systemd-run', '--scope', '--quiet', '--collect', '--unit=gantry-share-gantry-d-1', '--'],
    ]);
  });

  it('is made in the network of its host, and in the mounts of the agent', async () => {
    await mounts(recorded, { netns: 'one' }).ensure(share);
    expect(calls[0]?.slice(0, 3)).toEqual(['nsenter', '--net=/run/netns/one', 'ceph-fuse']);
  });

  it.each([
    ['storage_denied', 'ceph mount failed with (1) Operation not permitted', false],
    [
      'storage_denied',
      'handle_auth_bad_method server allowed_methods []\nfailed to fetch mon config',
      false,
    ],
    ['disk_missing', 'ceph mount failed with (2) No such file or directory', false],
    ['storage_fenced', 'ceph mount failed with (108) Cannot send', false],
    ['storage_unreachable', 'failed to fetch mon config (--no-mon-config to skip)', true],
    ['storage_unreachable', 'ceph mount failed with (110) Connection timed out', true],
    ['storage_failed', 'something else', false],
  ])('fails with %s if ceph-fuse says "%s"', async (code, stderr, isFinal) => {
    const attempt = mounts(failing({ stderr })).ensure(share);
    await expect(attempt).rejects.toMatchObject({ code, isFinal });
    await expect(attempt).rejects.toThrow('/gantry/i/d/data of fs');
    expect(await readdir(directory)).toEqual(['gantry-d-1']);
  });

  it('names the package if ceph-fuse is missing', async () => {
    const attempt = mounts(failing({ reason: 'not installed' })).ensure(share);
    await expect(attempt).rejects.toMatchObject({ code: 'storage_unsupported' });
    await expect(attempt).rejects.toThrow('apt-get install ceph-fuse');
  });

  it('is silent while a look at it does not return, and no second look is begun', async () => {
    let end = () => {};
    const hanging = new Promise<string>((resolve) => {
      end = () => resolve('');
    });
    let looks = 0;
    const run: RunProgram = () => {
      looks += 1;
      return hanging;
    };
    const under = mounts(run, { lookLimitMs: 5 });
    expect(await under.look('/a')).toBe('silent');
    expect(await under.look('/a')).toBe('silent');
    expect(looks).toBe(1);
    await expect(under.requireAlive('/a')).rejects.toMatchObject({ code: 'storage_unreachable' });
    end();
    await expect.poll(() => under.look('/a')).toBe('alive');
  });

  it('is dead if a look at it fails', async () => {
    expect(await mounts(failing({})).look('/a')).toBe('dead');
  });
});

it('only the mounts right below the directory are found, also with unusual names', () => {
  const text = [
    '42 27 0:39 / /run/shares/gantry-a rw - fuse.ceph-fuse ceph-fuse rw',
    '43 27 0:40 / /run/shares/with\\040space rw - fuse.ceph-fuse ceph-fuse rw',
    '44 27 0:41 / /run/shares/gantry-a/below rw - tmpfs none rw',
    '45 27 0:42 / /run/shares rw - tmpfs none rw',
    '46 27 0:43 / /run/shares-of-others/x rw - tmpfs none rw',
    '',
  ].join('\n');
  expect([...parseMounts(text, '/run/shares')]).toEqual([
    '/run/shares/gantry-a',
    '/run/shares/with space',
  ]);
});
