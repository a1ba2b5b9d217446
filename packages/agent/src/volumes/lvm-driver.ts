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
import { requireFreeShare } from './require-free-space.ts';
import { lvmSnapshots } from './snapshots/lvm-snapshots.ts';
import type { BlockDriver, IsInUse } from './volume-driver.ts';

/**
 * Disks as logical volumes `gantry-<id>` of one volume group, thin or plain. LVM stores the state:
 * every volume of Gantry has the tag `gantry.disk`, and only a complete one has `gantry.whole`. A
 * volume without it is never shown; it is removed and created again, which LVM refuses while a
 * program of an earlier agent process still writes to it.
 *
 * Plain volumes contain old data, perhaps another tenant's, so they are zeroed before they are
 * complete. While a plain volume grows, `gantry.zeroed=<bytes>` says how far it may be shown.
 *
 * This driver has not run on a kernel with device-mapper yet: tests check the commands it runs and
 * the parsing of `lvs` output.
 */
export type LvmDriverOptions = {
  volumeGroup: string;
  /** Null: plain volumes, which take their full size at once. */
  thinPool: string | null;
  images: ImageCache;
  isInUse: IsInUse;
  run: RunProgram;
  /** The share of a thin pool that new disks leave free. Absent: none. */
  reservePercent?: number | undefined;
};

const PREFIX = 'gantry-';
/** The tag of every volume of Gantry. */
export const OURS = 'gantry.disk';
const WHOLE = 'gantry.whole';
const ZEROED = 'gantry.zeroed=';
const REMOVE_ARGS = ['--yes', '--config', 'devices/issue_discards=1'];
/** Zeroing a device that has no command for it writes the whole device. */
const ZERO_TIMEOUT_MS = 14_400_000;

export function lvmDriver(options: LvmDriverOptions): BlockDriver {
  const { volumeGroup, thinPool, images, isInUse, run, reservePercent = 0 } = options;
  const nameOf = (diskId: string) => `${PREFIX}${diskId}`;
  const pathOf = (diskId: string) => `${volumeGroup}/${nameOf(diskId)}`;
  const deviceOf = (diskId: string) => `/dev/${pathOf(diskId)}`;

  const listVolumes = async (): Promise<LogicalVolume[]> =>
    parseLogicalVolumes(await run('lvs', [...reportArgs(), volumeGroup]));

  /** A volume with such a name but without the tag belongs to someone else and blocks the name. */
  const find = async (diskId: string): Promise<LogicalVolume | null> => {
    checkDiskId(diskId);
    const found = (await listVolumes()).find(({ name }) => name === nameOf(diskId));
    if (found && !found.tags.includes(OURS)) {
      const message = `the volume ${pathOf(diskId)} does not belong to Gantry: rename it`;
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

  const requireGoodPool = async (): Promise<void> => {
    if (thinPool === null) return;
    const pool = `${volumeGroup}/${thinPool}`;
    const columns = ['zero', 'data_percent', 'metadata_percent'];
    const [row] = parseRows(await run('lvs', [...reportArgs(columns), pool]));
    // If a pool does not zero new chunks, their next owner sees the old content.
    if (row?.['zero'] !== 'zero') {
      const message = `the thin pool ${pool} does not zero new chunks: lvchange --zero y`;
      throw new HostFailure('storage_failed', message);
    }
    const used = Math.max(Number(row['data_percent']), Number(row['metadata_percent']));
    const place = `the thin pool ${pool}`;
    requireFreeShare({ place, freePercent: 100 - used }, reservePercent);
  };

  const make = async (disk: DiskSpec, fill: () => Promise<void>): Promise<void> => {
    await requireGoodPool();
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
    await run('lvremove', [...REMOVE_ARGS, pathOf(diskId)]);
  };

  /** Also while a guest runs: the guest sees the new size only after its emulator was told. */
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

  const removeAtRest = async (diskId: string): Promise<void> => {
    const volume = await find(diskId);
    if (!volume) return;
    await requireAtRest(diskId, volume);
    await removeVolume(diskId);
  };

  const snapshots = lvmSnapshots({
    ...{ volumeGroup, thinPool, run, listVolumes, requireGoodPool, read, nameOf },
    tags: { disk: OURS, whole: WHOLE },
    removeArgs: REMOVE_ARGS,
    removeUnfinished: async (diskId) => {
      const volume = await find(diskId);
      if (volume && !volume.tags.includes(WHOLE)) await removeVolume(diskId);
    },
    removeDisk: removeAtRest,
  });

  return {
    snapshots,

    async list() {
      const whole = (await listVolumes()).filter(
        ({ name, tags }) => name.startsWith(PREFIX) && tags.includes(OURS) && tags.includes(WHOLE),
      );
      return whole.map(({ name }) => name.slice(PREFIX.length));
    },

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

    remove: removeAtRest,

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
