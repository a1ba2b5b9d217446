import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { newId } from '@gantry/model/ids';
import { describe, expect, it } from 'vitest';
import type { BackupFiles, BackupKey, Manifest } from '../backup-files.ts';

/** A place for backups. Each place of a contract is empty. */
export type ContractPlace = {
  /** Opens it as another scheduler that starts. */
  open(): BackupFiles;
  /** The names of what is stored of a disk. */
  stored(diskId: string): Promise<string[]>;
  readStored(diskId: string, name: string): Promise<Buffer>;
  /** The names of files on the way. A directory has none. */
  spooled(): Promise<string[]>;
};

export const held = async () => {};
export const newKey = (diskId: string = newId()): BackupKey => ({ id: newId(), disk_id: diskId });
export const sha256Of = (content: Buffer) => createHash('sha256').update(content).digest('hex');

export function manifestOf(
  key: BackupKey,
  content: Buffer,
  parent: string | null = null,
): Manifest {
  return {
    version: 1,
    ...{ backup_id: key.id, name: 'nightly', project_id: newId(), disk_id: key.disk_id },
    ...{ disk_type: 'persistent-ssd', size_gib: 1, block_size: 512, parent_id: parent },
    ...{ bytes: content.length, sha256: sha256Of(content), requested_at: '2026-11-19T00:00:00Z' },
  };
}

/** Makes a complete attempt, up to its publication. Returns the file to publish. */
export async function attempt(
  files: BackupFiles,
  key: BackupKey,
  content: Buffer,
): Promise<string> {
  const file = await files.prepare(key, held);
  await writeFile(file, content);
  await files.verify(file, manifestOf(key, content));
  return file;
}

export async function backUp(files: BackupFiles, key: BackupKey, content: Buffer): Promise<void> {
  await files.publish(key, await attempt(files, key, content));
}

export function readBack(files: BackupFiles, ...all: [BackupKey, Buffer][]): Promise<Buffer[]> {
  const backups = all.map(([key, content]) => ({ ...key, sha256: sha256Of(content) }));
  return files.withFiles(backups, (paths) => Promise.all(paths.map((each) => readFile(each))));
}

/** What every place of backups guarantees. */
export function describeBackupFiles(place: () => ContractPlace): void {
  describe('a place for backups', () => {
    it('returns what was published in the order of the request, with a manifest beside each', async () => {
      const files = place().open();
      const first = newKey();
      const second = newKey(first.disk_id);
      const [one, two] = [randomBytes(1_000), randomBytes(70_000)];
      await backUp(files, first, one);
      await backUp(files, second, two);
      expect(await readBack(place().open(), [second, two], [first, one])).toEqual([two, one]);
      const names = await place().stored(first.disk_id);
      expect(names).toHaveLength(4);
      const manifest = names.find((each) => each.startsWith(first.id) && each.endsWith('.json'));
      const content = names.find((each) => each.startsWith(first.id) && each.endsWith('.diff'));
      expect(manifest?.replace(/json$/, 'diff')).toBe(content);
      expect(
        JSON.parse(String(await place().readStored(first.disk_id, manifest ?? ''))),
      ).toMatchObject({
        ...{ backup_id: first.id, bytes: 1_000, sha256: sha256Of(one), parent_id: null },
      });
      expect(await place().spooled()).toEqual([]);
    });

    it('keeps nothing of an attempt that was discarded before or after it was verified', async () => {
      const files = place().open();
      const key = newKey();
      await files.discard(await attempt(files, key, randomBytes(10)));
      const unwritten = await files.prepare(key, held);
      await writeFile(unwritten, 'half');
      await files.discard(unwritten);
      expect(await place().stored(key.disk_id)).toEqual([]);
      expect(await place().spooled()).toEqual([]);
    });

    it('keeps nothing of a killed attempt after the next one', async () => {
      const key = newKey();
      await attempt(place().open(), key, randomBytes(10));
      const half = await place().open().prepare(key, held);
      await writeFile(half, 'half');
      const content = randomBytes(10);
      await backUp(place().open(), key, content);
      expect(await place().stored(key.disk_id)).toHaveLength(2);
      expect(await place().spooled()).toEqual([]);
      expect(await readBack(place().open(), [key, content])).toEqual([content]);
    });

    it('keeps the file of a backup while a late attempt at the same backup is stored and discarded', async () => {
      const key = newKey();
      const late = place().open();
      const lateFile = await late.prepare(key, held);
      const content = randomBytes(10);
      await backUp(place().open(), key, content);
      const before = await place().stored(key.disk_id);
      const other = randomBytes(10);
      await writeFile(lateFile, other);
      await late.verify(lateFile, manifestOf(key, other));
      expect(await readBack(place().open(), [key, content])).toEqual([content]);
      await late.discard(lateFile);
      expect(await place().stored(key.disk_id)).toEqual(before);
      expect(await readBack(place().open(), [key, content])).toEqual([content]);
    });

    it('keeps a published file that is discarded afterwards, as if the commit had no reply', async () => {
      const files = place().open();
      const key = newKey();
      const content = randomBytes(10);
      const file = await attempt(files, key, content);
      await files.publish(key, file);
      await files.discard(file);
      expect(await readBack(files, [key, content])).toEqual([content]);
    });

    it('refuses a file that differs from its checksum, and writes no manifest for it', async () => {
      const files = place().open();
      const key = newKey();
      const file = await files.prepare(key, held);
      await writeFile(file, 'what the disk has not');
      const manifest = manifestOf(key, Buffer.from('what the disk has yes'));
      await expect(files.verify(file, manifest)).rejects.toMatchObject({
        ...{ name: 'StorageError', code: 'failed', message: expect.stringContaining('SHA-256') },
      });
      expect((await place().stored(key.disk_id)).filter((each) => each.endsWith('.json'))).toEqual(
        [],
      );
      await files.discard(file);
      expect(await place().stored(key.disk_id)).toEqual([]);
    });

    it('removes everything of a backup and nothing of others, also if it is repeated', async () => {
      const files = place().open();
      const [key, content] = [newKey(), randomBytes(10)];
      const other = newKey(key.disk_id);
      await backUp(files, key, content);
      await backUp(files, other, content);
      await files.remove(key);
      await files.remove(key);
      const names = await place().stored(key.disk_id);
      expect(names).toHaveLength(2);
      expect(names.every((each) => each.startsWith(other.id))).toBe(true);
      await files.remove(other);
      expect(await place().stored(key.disk_id)).toEqual([]);
    });
  });
}
