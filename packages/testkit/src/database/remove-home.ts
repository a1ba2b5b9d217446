import { readlink, rm } from 'node:fs/promises';
import path from 'node:path';
import { stopPostmaster } from '@gantry/local/postgres/postmaster';

/** Stops the server of a home and removes the home, including a cluster outside it. */
export async function removeHome(directory: string): Promise<void> {
  const place = path.join(path.resolve(directory), 'postgres');
  // Removing a link does not remove its target.
  const follow = (link: string) => readlink(link).catch(() => undefined);
  const elsewhere = await follow(place);
  await stopPostmaster(path.join(elsewhere ?? place, 'data'));
  const data = await follow(path.join(path.resolve(directory), 'host-data'));
  for (const tree of [elsewhere, data, directory]) {
    if (tree) await rm(tree, { recursive: true, force: true, maxRetries: 10 });
  }
}
