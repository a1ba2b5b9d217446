import type { convertToQcow2 } from '@gantry/ceph/convert-image';
import { StorageError } from '@gantry/ceph/storage-error';
import { GIB } from '@gantry/daemon/units';
import type { StoredContent, StoredImage } from '@gantry/db/queries/storage/image-work';
import { withImageFile } from '../images/import-custom-image.ts';
import type { ImageContext, ImagePlace } from '../images/settle-image.ts';
import type { ImageStore } from './image-store.ts';

export type StoreContext = ImageContext & { store: ImageStore; convert: typeof convertToQcow2 };

/** The content of an image of a project in the image store. It is always qcow2, whatever the tenant or the host has sent. */
export function storedImage(context: StoreContext, image: StoredImage): ImagePlace {
  const { store } = context;
  return {
    make: () => makeContent(context, image),
    // The image is ready. What stays is removed by the sweep.
    tidy: () => store.removeSent(image.id).catch(() => {}),
    remove: () => store.remove(image.id),
  };
}

async function makeContent(context: StoreContext, image: StoredImage): Promise<StoredContent> {
  const { store, convert, imports } = context;
  const { id, format, size_gib, is_sent } = image;
  const to = await store.prepare(id);
  const { stopping: signal } = imports;
  const limits = { to, isOfTenant: true, maxBytes: size_gib * GIB, signal };
  try {
    if (is_sent) await convert({ file: store.sentFile(id), format: 'raw', ...limits });
    else await withImageFile(context, image, (file) => convert({ file, format, ...limits }));
    return await store.publish(id, to);
  } catch (error) {
    await store.discard(to).catch(() => {});
    // The next holder of the lease begins again.
    if (signal.aborted) throw new StorageError('unreachable', 'the scheduler stops');
    throw error;
  }
}
