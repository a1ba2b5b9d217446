import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInterface, makeVm } from '../testing/make-spec.ts';
import { createSeeds, type IsoSeeds } from './iso-seeds.ts';
import { readIso9660 } from './testing/read-iso9660.ts';

let root: string;
let directory: string;
let seeds: IsoSeeds;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-seeds-'));
  directory = join(root, 'made', 'seeds');
  seeds = createSeeds({ directory, nameservers: async () => [], mtu: 1450 });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const hostNameOf = async (vmId: string) => {
  const { files } = readIso9660(await readFile(seeds.path(vmId))).joliet;
  const metaData = files.find(({ name }) => name === 'meta-data')?.content.toString();
  return /^local-hostname: (.*)$/m.exec(metaData ?? '')?.[1];
};

describe('seeds', () => {
  it('are stored as <id>.iso, readable by their owner only, in a directory that others can only pass through', async () => {
    await seeds.ensure(makeVm('vm-1'));
    expect(seeds.path('vm-1')).toBe(join(directory, 'vm-1.iso'));
    expect((await stat(seeds.path('vm-1'))).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o711);
    expect(await hostNameOf('vm-1')).toBe('vm-1');
  });

  it('are left unchanged while nothing changed, and replaced when something did', async () => {
    await seeds.ensure(makeVm('vm-1'));
    const { ino } = await stat(seeds.path('vm-1'));
    await seeds.ensure(makeVm('vm-1', { revision: '2', generation: '2' }));
    expect((await stat(seeds.path('vm-1'))).ino).toBe(ino);
    await seeds.ensure(makeVm('vm-1', { name: 'other' }));
    expect(await hostNameOf('vm-1')).toBe('other');
  });

  it('are complete after one was truncated or its mode was changed', async () => {
    await seeds.ensure(makeVm('vm-1'));
    await writeFile(seeds.path('vm-1'), 'half');
    await seeds.ensure(makeVm('vm-1'));
    expect(await hostNameOf('vm-1')).toBe('vm-1');
    await chmod(seeds.path('vm-1'), 0o644);
    await seeds.ensure(makeVm('vm-1'));
    expect((await stat(seeds.path('vm-1'))).mode & 0o777).toBe(0o600);
  });

  it('are removed, also if there is none and no directory', async () => {
    await seeds.remove('vm-1');
    await seeds.ensure(makeVm('vm-1'));
    await seeds.ensure(makeVm('vm-2'));
    await seeds.remove('vm-1');
    await seeds.remove('vm-1');
    expect(await readdir(directory)).toEqual(['vm-2.iso']);
  });

  it('leave nothing of a process that was killed while it wrote', async () => {
    await seeds.ensure(makeVm('vm-1'));
    const half = `${seeds.path('vm-1')}.new`;
    for (const next of [makeVm('vm-1'), makeVm('vm-1', { name: 'other' })]) {
      await writeFile(half, 'half', { mode: 0o644 });
      await seeds.ensure(next);
      expect(await readdir(directory)).toEqual(['vm-1.iso']);
      expect((await stat(seeds.path('vm-1'))).mode & 0o777).toBe(0o600);
    }
    await writeFile(half, 'half');
    await seeds.remove('vm-1');
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['', '.', '..', '../vm-1', 'a/b', 'a.iso', '-a', 'a b', 'a\n', 'a'.repeat(64)])(
    'are neither written nor removed for the id %j',
    async (id) => {
      await seeds.ensure(makeVm('vm-1'));
      const refused = { name: 'HostFailure', code: 'bad_vm_id' };
      await expect(seeds.ensure(makeVm(id, { name: 'x' }))).rejects.toMatchObject(refused);
      await expect(seeds.remove(id)).rejects.toMatchObject(refused);
      expect(await readdir(directory)).toEqual(['vm-1.iso']);
    },
  );

  it.each([
    ['a name with a line break', { name: 'a\nseedfrom: x' }],
    ['a key of two lines', { sshPublicKey: 'ssh-ed25519 A\nssh-ed25519 B' }],
    ['a further key of two lines', { sshKeys: ['ssh-ed25519 A', 'ssh-ed25519 B\nssh-ed25519 C'] }],
    ['a MAC that is none', { interfaces: [makeInterface('n', { mac: '02:00' })] }],
    [
      'an address without prefix',
      { interfaces: [makeInterface('n', { privateIpv4: '10.0.0.5' })] },
    ],
    ['a prefix beyond 32', { interfaces: [makeInterface('n', { privateIpv4: '10.0.0.5/33' })] }],
    ['a gateway that is no address', { interfaces: [makeInterface('n', { gatewayIpv4: 'gate' })] }],
  ])('are not changed by %s', async (_what, bad) => {
    await seeds.ensure(makeVm('vm-1'));
    const before = await readFile(seeds.path('vm-1'));
    const refused = { name: 'HostFailure', code: 'bad_seed' };
    await expect(seeds.ensure(makeVm('vm-1', bad))).rejects.toMatchObject(refused);
    expect((await readFile(seeds.path('vm-1'))).equals(before)).toBe(true);
  });

  it('name the file that could not be written, and why', async () => {
    await writeFile(join(root, 'made'), 'a file where the folder should be');
    await expect(seeds.ensure(makeVm('vm-1'))).rejects.toMatchObject({
      code: 'seed_failed',
      message: expect.stringContaining(seeds.path('vm-1')),
    });
  });
});
