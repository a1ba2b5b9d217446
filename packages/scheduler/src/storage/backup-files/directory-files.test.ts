import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { afterAll, beforeAll } from 'vitest';
import { openDirectoryFiles } from './directory-files.ts';
import { describeBackupFiles } from './testing/backup-files-contract.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-backups-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describeBackupFiles(() => ({
  open: () => openDirectoryFiles(directory),
  stored: async (diskId) =>
    ((await unlessMissing(readdir(path.join(directory, diskId)))) ?? []).sort(),
  readStored: (diskId, name) => readFile(path.join(directory, diskId, name)),
  spooled: async () => [],
}));
