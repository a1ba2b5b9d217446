/**
 * Backups in a bucket of an S3-compatible server:
 *
 *   <prefix><disk id>/<backup id>.<attempt>.diff   the file
 *   <prefix><disk id>/<backup id>.<attempt>.json   its manifest
 *
 * A bucket has no rename, and a request that was sent may be carried out at any later time. So every attempt has names of
 * its own, nothing is ever overwritten, and the database decides which attempt counts: a backup is ready with a checksum,
 * and its file is the one whose manifest has this checksum. To publish needs no request, so the transaction that holds the
 * lease does not wait for the bucket.
 *
 * What earlier attempts left is removed in three steps: list, check the lease, remove what was listed. What was listed
 * before the check was made under an earlier lease or by this process, and cannot be published after the check. So a late
 * scheduler does not remove the attempt of its successor.
 *
 * A crash leaves objects, which the next attempt or the deletion of the backup removes, and files in the spool, which the
 * next start removes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { StorageError } from '@gantry/ceph/storage-error';
import { unlessMissing } from '@gantry/daemon/durable-file';
import {
  type BackupFiles,
  type BackupKey,
  type Manifest,
  renderManifest,
  type StoredBackup,
} from '../backup-files.ts';
import { withDirectory } from '../with-directory.ts';
import { type BucketPatience, openBucket, type Upload } from './bucket.ts';
import { BucketError, bucketFailure } from './bucket-error.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { payloadOfText } from './payload.ts';
import { openSpool } from './spool.ts';
import { uploadFile } from './upload-file.ts';

export type BucketOptions = {
  settings: BucketSettings;
  /** Ends all requests when the scheduler stops. */
  stopping: AbortSignal;
  /** The least size of the parts of a large file. */
  partBytes?: number;
  patience?: BucketPatience;
};

/** `name`: that of both objects, without their ends. */
type Attempt = { name: string; isStored: boolean };
type Leftovers = { names: string[]; uploads: Upload[] };

const CONTENT = '.diff';
const MANIFEST = '.json';

export function openBucketFiles(options: BucketOptions & { spool: string }): BackupFiles {
  const { settings, partBytes } = options;
  const bucket = openBucket(options);
  const spool = openSpool(options.spool);
  /** By their files in the spool. An attempt that was published is forgotten, so that nothing discards it. */
  const attempts = new Map<string, Attempt>();
  const beginningOf = ({ disk_id, id }: BackupKey) => `${settings.prefix}${disk_id}/${id}.`;

  const use = <T>(work: () => Promise<T>): Promise<T> =>
    withDirectory(options.spool, () =>
      work().catch((error: unknown) => {
        throw error instanceof BucketError ? bucketFailure(error) : error;
      }),
    );
  const find = async (beginning: string): Promise<Leftovers> => ({
    names: await bucket.list(beginning),
    uploads: await bucket.listUploads(beginning).catch((error: unknown) => {
      // Some servers cannot list uploads. Their own rule for old uploads removes them.
      if (error instanceof BucketError && error.code === 'NotImplemented') return [];
      throw error;
    }),
  });
  const clear = async ({ names, uploads }: Leftovers) => {
    const isManifest = (name: string) => name.endsWith(MANIFEST);
    for (const name of names.filter(isManifest)) await bucket.remove(name);
    for (const name of names.filter((each) => !isManifest(each))) await bucket.remove(name);
    for (const upload of uploads) await bucket.abortUpload(upload);
  };

  const attemptOf = (file: string): Attempt => {
    const attempt = attempts.get(file);
    if (!attempt) throw new Error('BUG: the file of a backup that was not prepared');
    return attempt;
  };
  const store = async (file: string, manifest: Manifest) => {
    const attempt = attemptOf(file);
    const name = attempt.name + CONTENT;
    attempt.isStored = true;
    const sending = uploadFile(bucket, { file, name, ...(partBytes && { partBytes }) });
    if (!(await unlessMissing(sending.then(() => true))))
      throw new StorageError('busy', 'another scheduler has removed the backup file');
    await requireStored(name, manifest);
    await bucket.put(attempt.name + MANIFEST, payloadOfText(renderManifest(manifest)));
    await spool.remove(file);
  };
  /** Reads the object again: what a server promises about checksums differs, and a restore needs what it stored. */
  const requireStored = async (name: string, { bytes, sha256 }: Manifest) => {
    const hash = createHash('sha256');
    for await (const chunk of bucket.read(name, bytes)) hash.update(chunk);
    requireChecksum(name, hash.digest('hex'), sha256);
  };

  /** Returns the complete file of a backup, which any of its attempts may have written. */
  const findComplete = async (backup: StoredBackup): Promise<{ name: string; bytes: number }> => {
    const names = new Set(await bucket.list(beginningOf(backup)));
    for (const manifest of names) {
      const name = manifest.slice(0, -MANIFEST.length) + CONTENT;
      if (!manifest.endsWith(MANIFEST) || !names.has(name)) continue;
      const { sha256, bytes } = parseManifest(await bucket.readText(manifest));
      if (sha256 === backup.sha256 && bytes !== undefined) return { name, bytes };
    }
    throw new StorageError('failed', `the bucket has no complete file of the backup ${backup.id}`);
  };
  const fetchTo = async (file: string, backup: StoredBackup) => {
    await spool.ready();
    const { name, bytes } = await findComplete(backup);
    const hash = createHash('sha256');
    await pipeline(
      async function* () {
        for await (const chunk of bucket.read(name, bytes)) {
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(file, { flags: 'wx', mode: 0o600 }),
    );
    requireChecksum(name, hash.digest('hex'), backup.sha256);
  };

  return {
    async prepare(key, requireLease) {
      const left = await use(async () => {
        await spool.ready();
        return await find(beginningOf(key));
      });
      await requireLease();
      await use(() => clear(left));
      const file = spool.newFile(key.id);
      const name = `${beginningOf(key)}${randomBytes(6).toString('hex')}`;
      attempts.set(file, { name, isStored: false });
      return file;
    },
    verify: (file, manifest) => use(() => store(file, manifest)),
    async publish(_, file) {
      attemptOf(file);
      attempts.delete(file);
    },
    discard: (file) =>
      use(async () => {
        await spool.remove(file);
        const attempt = attempts.get(file);
        attempts.delete(file);
        if (attempt?.isStored) await clear(await find(`${attempt.name}.`));
      }),
    remove: (key) => use(async () => await clear(await find(beginningOf(key)))),
    async withFiles(backups, work) {
      const files: string[] = [];
      try {
        for (const backup of backups) {
          const file = spool.newFile(backup.id);
          files.push(file);
          await use(() => fetchTo(file, backup));
        }
        return await work(files);
      } finally {
        for (const file of files) await spool.remove(file).catch(() => {});
      }
    },
  };
}

/** A manifest that is not valid JSON belongs to no backup. */
function parseManifest(text: string): Partial<Manifest> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Manifest>;
  } catch {
    return {};
  }
}

function requireChecksum(name: string, found: string, expected: string): void {
  if (found === expected) return;
  const file = name.slice(name.lastIndexOf('/') + 1);
  throw new StorageError(
    'failed',
    `the backup file ${file} is damaged: its SHA-256 is ${found}, not ${expected}`,
  );
}
