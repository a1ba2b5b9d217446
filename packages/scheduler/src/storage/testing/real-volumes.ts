import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { expect } from 'vitest';
import { LOCATION, POOL, type StorageWorld } from './storage-world.ts';

type Running = { ceph: TestCeph; world: StorageWorld };

/** Requests that a real cluster carries out, and the content of its volumes. `running` is called when they are used. */
export function realVolumes(running: () => Running) {
  const qemuIo = (name: string, ...commands: string[]) => {
    const { ceph } = running();
    return ceph.run(
      ...(['qemu-io', '--image-opts'] as const),
      `driver=rbd,pool=${POOL},image=${name},conf=${ceph.configFile}`,
      ...[...commands, 'flush'].flatMap((command) => ['-c', command]),
    );
  };
  /** Whether the first 4 MiB of the volume consist of this byte. */
  const has = async (name: string, byte: string) =>
    await qemuIo(name, `read -P ${byte} 0 4M`).then(
      (output) => !output.includes('verification failed'),
      () => false,
    );
  /** Returns the SHA-256 of the whole volume. */
  const checksum = async (name: string) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'gantry-volume-'));
    try {
      const file = path.join(directory, 'content');
      await running().ceph.run('rbd', 'export', '--no-progress', `${POOL}/${name}`, file);
      return createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };
  /** Sends a request, lets the cluster carry it out, and returns the id of the resource. */
  const finish = async (method: string, at: string, body?: object): Promise<string> => {
    const { world } = running();
    const { id, resourceId } = await world.begin(method, at, body);
    await world.carryOut();
    expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
    return resourceId;
  };
  const restoreBackup = (name: string, backup_id: string) =>
    finish('POST', '/disks', { name, size: '1GiB', location: LOCATION, backup_id });
  return { qemuIo, has, checksum, finish, restoreBackup };
}
