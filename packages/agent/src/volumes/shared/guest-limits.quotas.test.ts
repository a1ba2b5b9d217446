import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MIB } from '@gantry/daemon/units';
import {
  makeFileSystem,
  type TestFileSystem,
} from '@gantry/testkit/real-host/file-systems/quota-file-system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dataOf,
  type LimitedVolumes,
  openLimitedVolumes,
  sharedDisk,
} from './testing/limited-volumes.ts';
import { type ShareGuest, startShareGuest } from './testing/share-guest.ts';

const ID = 'shared';
const [FIRST_MIB, SECOND_MIB] = [16, 32];
const FILES_PER_MIB = 64;
/** What ext4 stores about the files counts too. */
const SPARE_MIB = 1;
/** The guest is a VM of an emulated server. */
const PATIENCE = { timeout: 600_000 };

/** Fills the share, and fills it again after it has grown. */
const SCRIPT = `mkdir /mnt
mount -t virtiofs ${ID} /mnt
second() { awk 'END { print $2 }'; }
size() { echo "SEEN $(df -m -P /mnt | second) MiB, $(df -i -P /mnt | second) files"; }
fill() {
  dd if=/dev/zero of=/mnt/$1 bs=64k count=1024 conv=fsync 2>&1 | sed 's/^/SEEN /'
  echo "SEEN $1 has $(stat -c %s /mnt/$1) bytes"
}
size
fill first
until [ -e /mnt/grown ]; do usleep 100000; done
size
fill second
`;

describe('a shared volume with a limit that a guest fills', () => {
  let system: TestFileSystem;
  let directory: string;
  let volumes: LimitedVolumes;
  let guest: ShareGuest;

  beforeAll(async () => {
    system = await makeFileSystem('filled', { sizeMib: 256 });
    directory = join(system.mountPoint, 'shared');
    volumes = openLimitedVolumes({ directory });
    const disk = sharedDisk(ID, FIRST_MIB);
    await volumes.create(disk, null);
    guest = await startShareGuest(volumes, { disk, script: SCRIPT });
    volumes.inUse.add(ID);
  });
  afterAll(async () => {
    await guest?.stop();
    await system?.remove();
  });

  /** Returns what the guest has printed when it has filled a file. */
  const filled = async (name: string) => {
    await expect.poll(() => guest.readConsole(), PATIENCE).toContain(`SEEN ${name} has`);
    return await guest.readConsole();
  };
  const bytesOf = async (name: string) => {
    const [, bytes] = new RegExp(`SEEN ${name} has (\\d+) bytes`).exec(await filled(name)) ?? [];
    const { size } = await stat(join(dataOf(directory, ID), name));
    expect(size).toBe(Number(bytes));
    return size;
  };

  it('shows the guest its size, and refuses writes beyond it with EDQUOT', async () => {
    const console = await filled('first');
    expect(console).toContain(`SEEN ${FIRST_MIB} MiB, ${FIRST_MIB * FILES_PER_MIB} files`);
    expect(console).toContain("SEEN dd: error writing '/mnt/first': Disk quota exceeded");
    expect(await bytesOf('first')).toBeLessThanOrEqual(FIRST_MIB * MIB);
    expect(await bytesOf('first')).toBeGreaterThan((FIRST_MIB - SPARE_MIB) * MIB);
  });

  it('accepts more when it has grown under the guest, up to its new size', async () => {
    await volumes.prepareGrowth(sharedDisk(ID, SECOND_MIB));
    await writeFile(join(dataOf(directory, ID), 'grown'), '');
    const console = await filled('second');
    expect(console).toContain(`SEEN ${SECOND_MIB} MiB, ${SECOND_MIB * FILES_PER_MIB} files`);
    expect(console).toContain("SEEN dd: error writing '/mnt/second': Disk quota exceeded");
    const bytes = (await bytesOf('first')) + (await bytesOf('second'));
    expect(bytes).toBeLessThanOrEqual(SECOND_MIB * MIB);
    expect(bytes).toBeGreaterThan((SECOND_MIB - SPARE_MIB) * MIB);
  });
});
