import { StorageError } from '@gantry/ceph/storage-error';
import { LeaseLost } from '../lease-writes.ts';

/** What fails in the directory is no fault of the cluster. */
export async function withDirectory<T>(directory: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof StorageError || error instanceof LeaseLost) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StorageError(
      'failed',
      `the directory of backups ${directory} cannot be used: ${reason}`,
      { cause: error },
    );
  }
}
