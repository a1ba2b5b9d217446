import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The files of images that are being uploaded, in a directory that api processes and schedulers share. A file is called
 * like its image and grows at its end only, so its length is how much was received, also after a crash.
 */

export async function readStagedBytes(directory: string, imageId: string): Promise<number> {
  const found = await stat(join(directory, imageId)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found?.size ?? 0;
}

/** Returns when the data is on the disk. The caller holds the lock of the image and has read the length of the file. */
export async function appendStaged(
  directory: string,
  { imageId, offset, data }: { imageId: string; offset: number; data: Buffer },
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(join(directory, imageId), flags, 0o600);
  try {
    let written = 0;
    while (written < data.length) {
      const { bytesWritten } = await file.write(
        data,
        written,
        data.length - written,
        offset + written,
      );
      written += bytesWritten;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (offset > 0) return;
  const folder = await open(directory);
  await folder.sync().finally(() => folder.close());
}
