import path from 'node:path';
import { buildTinyGuest, type TinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { tinyGuestDirectory } from '../../real-host/guest/tiny-guest-directory.ts';
import { readTarget } from '../image/target.ts';

/** The tiny guest for VMs of the lab's machine. */
export async function buildLabGuest(): Promise<TinyGuest> {
  const { architecture, apt } = await readTarget();
  const isOwn = apt.env['APT_CONFIG'] === undefined;
  const directory = isOwn ? tinyGuestDirectory : path.join(tinyGuestDirectory, architecture.debian);
  return buildTinyGuest({ directory, architecture, apt });
}
