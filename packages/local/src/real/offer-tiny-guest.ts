import { existsSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { TinyGuest } from '../guest/build-tiny-guest.ts';
import type { Home } from '../home/home.ts';
import type { Operator } from './operator.ts';

/** This machine has its own location, so its VM type and image are offered nowhere else. */
export const LOCATION = 'local-a';
export const VM_TYPE = 'lab.1x';
const IMAGE = 'tiny';

const TYPE = {
  ...{ name: VM_TYPE, description: 'One core, for trying things', locations: [LOCATION] },
  ...{ cpu_cores: 1, cpu_type: 'any', memory_gb: 1, memory_type: 'any' },
  ...{ disk_gb: 0, disk_type: 'none', disk_count: 0, network_gbps: 0 },
  ...{ gpu_count: 1, gpu_type: 'A40 48GB PCIe' },
};

type Items<Item> = { items: Item[] };
type Image = { id: string; name: string; sha256: string; retired: boolean };
type Offer = { operator: Operator; home: Home; guest: TinyGuest };

/** Idempotent. Returns the name of the image. */
export async function offerTinyGuest({ operator, home, guest }: Offer): Promise<string> {
  const has = async (path: string, name: string) => {
    const { items } = await operator.call<Items<{ name: string }>>('GET', path);
    return items.some((item) => item.name === name);
  };
  if (!(await has('/admin/locations', LOCATION))) {
    const location = { name: LOCATION, region: 'local', zone: 'a', description: 'This machine' };
    await operator.call('POST', '/admin/locations', location);
  }
  if (!(await has('/admin/vm-types', VM_TYPE))) {
    await operator.call('POST', '/admin/vm-types', TYPE);
  }
  return await ensureImage({ operator, home, guest });
}

/**
 * The content of an image never changes, so a guest built from newer packages is a new image. It
 * takes the name of the old image if no VM was created from that, and otherwise gets a new name.
 */
async function ensureImage({ operator, home, guest }: Offer): Promise<string> {
  const { items } = await operator.call<Items<Image>>('GET', '/admin/images');
  const ours = items.filter(({ name }) => name === IMAGE || name.startsWith(`${IMAGE}-`));
  const current = ours.find(({ sha256 }) => sha256 === guest.sha256);
  for (const { id, sha256, retired } of ours.filter((image) => image !== current)) {
    const gone = await operator.unless(409, 'DELETE', `/admin/images/${id}`);
    if (gone) await rm(keptImage(home, sha256), { force: true });
    else if (!retired) await operator.call('PATCH', `/admin/images/${id}`, { retired: true });
  }
  const source = await keepImage(home, guest);
  if (current) {
    if (current.retired) {
      await operator.call('PATCH', `/admin/images/${current.id}`, { retired: false });
    }
    return current.name;
  }
  const left = await operator.call<Items<Image>>('GET', '/admin/images');
  const isTaken = left.items.some(({ name }) => name === IMAGE);
  const name = isTaken ? `${IMAGE}-${guest.sha256.slice(0, 8)}` : IMAGE;
  await operator.call('POST', '/admin/images', {
    ...{ name, description: 'Busybox and SSH, boots in seconds', locations: [LOCATION] },
    ...{ source_url: pathToFileURL(source).href, sha256: guest.sha256 },
  });
  return name;
}

/** Links the image under a name made from its content, because the builder removes old images. */
async function keepImage(home: Home, guest: TinyGuest): Promise<string> {
  const kept = keptImage(home, guest.sha256);
  if (existsSync(kept)) return kept;
  await rm(`${kept}.new`, { force: true });
  await link(guest.path, `${kept}.new`);
  await rename(`${kept}.new`, kept);
  return kept;
}

function keptImage(home: Home, sha256: string): string {
  return home.file(`host/${sha256}.raw`);
}
