import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import type { Log } from '@gantry/daemon/log';
import type { OpenCluster } from './storage-clusters.ts';

const NAME = /^[a-z0-9-]{1,63}$/;
const BASE64 = /^[A-Za-z0-9+/]{32,}={0,2}$/;
/** The rights of users other than the owner of the file. */
const OTHERS = 0o077;

/** Returns the function that opens Ceph clusters with the keys of a directory: `<name of the cluster>.key`, in base64. */
export function cephOpener(keysDirectory: string, log: Log): OpenCluster {
  return async ({ name, monitors, userName }) => {
    const key = await readKey(keysDirectory, name);
    return connectCeph({
      ...{ monitors, userName, key },
      onCrash: ({ signal, methods }) =>
        log.error({ storage_cluster: name, signal, methods }, 'a library of Ceph crashed'),
    });
  };
}

async function readKey(directory: string, name: string): Promise<string> {
  const file = join(directory, `${name}.key`);
  if (!NAME.test(name)) throw unusable(file, 'the cluster has no usable name');
  const key = await readOwn(file).catch((error: Error) => {
    throw error instanceof StorageError ? error : unusable(file, error.message);
  });
  if (BASE64.test(key)) return key;
  throw unusable(file, 'it must have one line, the key as "ceph auth get-key" prints it');
}

async function readOwn(file: string): Promise<string> {
  const { mode } = await stat(file);
  if ((mode & OTHERS) !== 0) throw unusable(file, 'other users may read it: chmod 600');
  return (await readFile(file, 'utf8')).trim();
}

function unusable(file: string, why: string): StorageError {
  return new StorageError('denied', `the key of the cluster cannot be used: ${file}: ${why}`);
}
