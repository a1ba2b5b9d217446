import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupPart, NewVolume } from '../storage-cluster.ts';
import type { ContractCluster } from './contract-cluster.ts';

const MIB = 2 ** 20;

/** The guarantees of files with the content of volumes. */
export function describeBackupContract(make: () => ContractCluster): void {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'gantry-backup-contract-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const newVolume = (sizeMib = 32): NewVolume => {
    const name = randomUUID();
    const labels = { installation: 'here', resource: name };
    return { pool: make().pool, name, sizeBytes: sizeMib * MIB, labels };
  };
  /** Writes a text, makes a snapshot and exports it. */
  const backUp = async (at: NewVolume, text: string, since: BackupPart | null) => {
    const { cluster, open } = make();
    const client = await open(at);
    await client.write(text);
    await client.close();
    const snapshot = randomUUID();
    await cluster.createSnapshot({ ...at, snapshot });
    const file = path.join(directory, snapshot);
    const exported = await cluster.exportSnapshot({
      ...{ pool: at.pool, name: at.name, snapshot, since: since?.snapshot ?? null, file },
    });
    const content = await readFile(file);
    expect(exported).toEqual({
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    return { file, snapshot, sha256: exported.sha256 };
  };

  describe('backups', () => {
    it('a volume is made of a whole file and the changes after it, and to make it again changes nothing', async () => {
      const { cluster, read } = make();
      const origin = newVolume();
      await cluster.createVolume(origin);
      const first = await backUp(origin, 'first', null);
      const second = await backUp(origin, 'second', first);
      const unchanged = await backUp(origin, 'second', second);
      for (const [parts, text] of [
        [[first], 'first'],
        [[first, second], 'second'],
        [[first, second, unchanged], 'second'],
      ] as const) {
        const to = newVolume(64);
        const made = await cluster.importBackup({ ...to, parts });
        expect(made).toMatchObject({ sizeBytes: 64 * MIB, parentId: null, snapshots: [] });
        expect(await read(to)).toBe(text);
        expect((await cluster.importBackup({ ...to, parts })).id).toBe(made.id);
      }
    });

    it('a damaged, missing or foreign file leaves no volume and is named', async () => {
      const { cluster } = make();
      const origin = newVolume();
      await cluster.createVolume(origin);
      const first = await backUp(origin, 'first', null);
      const second = await backUp(origin, 'second', first);
      const content = await readFile(second.file);
      const flipped = Buffer.from(content);
      flipped[flipped.length - 3] = (flipped[flipped.length - 3] ?? 0) ^ 1;
      await writeFile(second.file, flipped);
      const refuse = async (parts: BackupPart[], message: RegExp, sizeMib = 32) => {
        const to = newVolume(sizeMib);
        const failure = { code: 'failed', message: expect.stringMatching(message) };
        await expect(cluster.importBackup({ ...to, parts })).rejects.toMatchObject(failure);
        expect(await cluster.readVolume(to)).toBeNull();
      };
      await refuse([first, second], new RegExp(`${second.file} is damaged: its SHA-256`));
      await writeFile(second.file, content);
      await refuse([second], /belongs to another backup/);
      await refuse([first, second], /smaller/, 16);
      await rm(first.file);
      await refuse([first, second], new RegExp(`${first.file} cannot be used`));
    });

    it('an export needs its snapshots and a place for its file', async () => {
      const { cluster } = make();
      const origin = newVolume();
      await cluster.createVolume(origin);
      const first = await backUp(origin, 'first', null);
      const { pool, name } = origin;
      const at = { pool, name, snapshot: first.snapshot, since: null, file: first.file };
      const absent = { code: 'not_found' };
      await expect(cluster.exportSnapshot({ ...at, snapshot: 'x' })).rejects.toMatchObject(absent);
      await expect(cluster.exportSnapshot({ ...at, since: 'x' })).rejects.toMatchObject(absent);
      const nowhere = cluster.exportSnapshot({ ...at, file: path.join(directory, 'no/file') });
      await expect(nowhere).rejects.toMatchObject({ code: 'failed' });
    });
  });
}
