import { HostFailure } from '../base/failure.ts';
import type { RunProgram } from '../base/run-program.ts';
import type { Volume } from '../host-driver.ts';
import type { ImageCache } from '../images/image-cache.ts';
import type { DiskSpec, Image } from '../spec.ts';
import {
  checkDisk,
  checkDiskId,
  checkGrowth,
  diskInUse,
  diskMissing,
  imageTooLarge,
} from './check-disk.ts';
import { type LogicalVolume, parseLogicalVolumes, parseRows, reportArgs } from './lvm-report.ts';
import { copyIntoDevice } from './qemu-img.ts';
import type { IsInUse, VolumeDriver } from './volume-driver.ts';

/**
 * Disks as logical volumes of one volume group, `gantry-<id>`, thin or plain. LVM keeps the state:
 * every volume of ours has the tag `gantry.disk`, and only one whose data is on the device has
 * `gantry.whole`. One without is never shown: it is removed and begun again, which LVM refuses while
 * a program of an earlier life still writes into it.
 *
 * Plain volumes hold what lay there before, perhaps another tenant's: they are zeroed before they
 * are whole. While one is being made larger, `gantry.zeroed=<bytes>` says how far it may be shown.
 *
 * It has not run on a kernel with device-mapper yet: tests hold it to the commands it gives and to
 * what `lvs` prints.
 */
export type LvmDriverOptions = {
  volumeGroup: string;
  /** Null: plain volumes, whose whole size is taken at once. */
  thinPool: string | null;
  images: ImageCache;
  isInUse: IsInUse;
  run: RunProgram;
};

const OURS = 'gantry.disk';
const WHOLE = 'gantry.whole';
const ZEROED = 'gantry.zeroed=';
/** Zeroing a device without a command for it writes all of it. */
const ZERO_TIMEOUT_MS = 14_400_000;

export function lvmDriver(options: LvmDriverOptions): VolumeDriver {
  const { volumeGroup, thinPool, images, isInUse, run } = options;
  const nameOf = (diskId: string) => `gantry-${diskId}`;
  const pathOf = (diskId: string) => `${volumeGroup}/${nameOf(diskId)}`;
  const deviceOf = (diskId: string) => `/dev/${pathOf(diskId)}`;

  /** One that is named like ours without its tag is somebody else's, and in the way. */
  const find = async (diskId: string): Promise<LogicalVolume | null> => {
    checkDiskId(diskId);
    const json = await run('lvs', [...reportArgs(), volumeGroup]);
    const found = parseLogicalVolumes(json).find(({ name }) => name === nameOf(diskId));
    if (found && !found.tags.includes(OURS)) {
      const message = `the volume ${pathOf(diskId)} is not Gantry's: rename it`;
      throw new HostFailure('storage_failed', message);
    }
    return found ?? null;
  };

  const read = async (diskId: string): Promise<Volume | null> => {
    const volume = await find(diskId);
    if (!volume?.tags.includes(WHOLE)) return null;
    return { id: diskId, sizeBytes: String(zeroedBytes(volume) ?? volume.sizeBytes) };
  };

  const zero = async (diskId: string, offset: number): Promise<void> => {
    if (thinPool !== null) return;
    const args = ['--zeroout', '--offset', String(offset), deviceOf(diskId)];
    await run('blkdiscard', args, { timeoutMs: ZERO_TIMEOUT_MS });
  };

  /** What a chunk held before is seen by its next owner where a pool does not zero. */
  const requireZeroing = async (): Promise<void> => {
    if (thinPool === null) return;
    const json = await run('lvs', [...reportArgs(['zero']), `${volumeGroup}/${thinPool}`]);
    if (parseRows(json)[0]?.['zero'] === 'zero') return;
    const message = `the thin pool ${volumeGroup}/${thinPool} does not zero new chunks: lvchange --zero y`;
    throw new HostFailure('storage_failed', message);
  };

  const make = async (disk: DiskSpec, fill: () => Promise<void>): Promise<void> => {
    await requireZeroing();
    const size = `${checkDisk(disk)}b`;
    const how =
      thinPool === null
        ? ['--size', size, '--wipesignatures', 'n', '--zero', 'n']
        : ['--virtualsize', size, '--thinpool', thinPool];
    const named = ['--name', nameOf(disk.id), '--addtag', OURS, volumeGroup];
    await run('lvcreate', ['--yes', ...how, ...named]);
    await zero(disk.id, 0);
    await fill();
    await run('sync', [deviceOf(disk.id)]);
    await run('lvchange', ['--addtag', WHOLE, pathOf(disk.id)]);
  };

  const makeFrom = (disk: DiskSpec, image: Image): Promise<void> =>
    images.use(image, async (cached) => {
      if (checkDisk(disk) < cached.virtualSizeBytes) {
        throw imageTooLarge(disk, cached.virtualSizeBytes);
      }
      await make(disk, () => copyIntoDevice(run, { image: cached, device: deviceOf(disk.id) }));
    });

  const removeVolume = async (diskId: string): Promise<void> => {
    await run('lvremove', ['--yes', '--config', 'devices/issue_discards=1', pathOf(diskId)]);
  };

  /** Also under a guest, which sees none of it before its emulator is told. */
  const extend = async (disk: DiskSpec): Promise<void> => {
    const volume = await find(disk.id);
    const wanted = checkGrowth(disk, await read(disk.id));
    if (volume === null || wanted === null) return;
    const shown = zeroedBytes(volume) ?? volume.sizeBytes;
    const mark = `${ZEROED}${shown}`;
    if (!volume.tags.includes(mark)) await run('lvchange', ['--addtag', mark, pathOf(disk.id)]);
    if (volume.sizeBytes < wanted) await run('lvextend', ['--size', `${wanted}b`, pathOf(disk.id)]);
    await zero(disk.id, shown);
    await run('lvchange', ['--deltag', mark, pathOf(disk.id)]);
  };

  const requireAtRest = async (diskId: string, volume: LogicalVolume): Promise<void> => {
    if (volume.isOpen || (await isInUse(diskId))) throw diskInUse(diskId);
  };

  return {
    read,

    async create(disk, image) {
      checkDisk(disk);
      const volume = await find(disk.id);
      if (volume?.tags.includes(WHOLE)) return;
      if (volume) await removeVolume(disk.id);
      if (image) await makeFrom(disk, image);
      else await make(disk, async () => {});
    },

    async grow(disk) {
      const volume = await find(disk.id);
      if (checkGrowth(disk, await read(disk.id)) === null) return;
      if (volume) await requireAtRest(disk.id, volume);
      await extend(disk);
    },

    async remove(diskId) {
      const volume = await find(diskId);
      if (!volume) return;
      await requireAtRest(diskId, volume);
      await removeVolume(diskId);
    },

    async locate(disk) {
      if ((await read(disk.id)) === null) throw diskMissing(disk.id);
      return { type: 'block', path: deviceOf(disk.id) };
    },

    prepareGrowth: extend,
  };
}

function zeroedBytes({ tags }: LogicalVolume): number | null {
  const tag = tags.find((each) => each.startsWith(ZEROED));
  return tag === undefined ? null : Number(tag.slice(ZEROED.length));
}
