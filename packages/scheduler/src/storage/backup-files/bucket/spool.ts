import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

/**
 * The files on their way to and from the bucket. They have the name of the machine, and all of a machine belong to its one
 * scheduler: what a killed process left is removed by its next start, and never what another machine works on.
 */
export type Spool = {
  /** Removes what is left of an earlier process. Throws if the directory cannot be used. */
  ready(): Promise<void>;
  newFile(backupId: string): string;
  remove(file: string): Promise<void>;
};

export function openSpool(directory: string): Spool {
  const end = `.${hostname()}.spool`;
  let isSwept: Promise<void> | undefined;
  const sweep = async () => {
    for (const name of await readdir(directory))
      if (name.endsWith(end)) await rm(path.join(directory, name), { force: true });
  };
  const ready = () => {
    isSwept ??= sweep().catch((error: unknown) => {
      isSwept = undefined;
      throw error;
    });
    return isSwept;
  };
  // The space is needed before the next backup. If it fails, the first use tries again and reports it.
  ready().catch(() => {});
  return {
    ready,
    newFile: (backupId) =>
      path.join(directory, `${backupId}.${randomBytes(6).toString('hex')}${end}`),
    remove: (file) => rm(file, { force: true }),
  };
}
