import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execute } from '@gantry/testkit/real-host/execute';
import type { Share } from '../storage-shares.ts';
import type { ShareContractClient } from './share-contract.ts';

type Cluster = {
  directory: string;
  configFile: string;
  run(program: string, ...args: string[]): Promise<string>;
};

/** Mounts a share with ceph-fuse, as hosts do. */
export async function mountShare(
  cluster: Cluster,
  { share, entity = 'admin', key }: { share: Share; entity?: string; key?: string },
): Promise<ShareContractClient & { directory: string }> {
  const at = await mkdtemp(path.join(cluster.directory, 'mount-'));
  const [directory, pidFile] = [path.join(at, 'share'), path.join(at, 'pid')];
  await execute('mkdir', directory);
  const keyring = path.join(cluster.directory, `client.${entity}.keyring`);
  if (key !== undefined) await writeFile(keyring, `[client.${entity}]\n\tkey = ${key}\n`);
  const unmount = async () => {
    // A client that was fenced or killed still has its mount.
    await execute('umount', '--lazy', directory).catch(() => '');
    await rm(at, { recursive: true, force: true });
  };
  try {
    const limits = ['--client_mount_timeout', '3', '--rados_mon_op_timeout', '3'];
    const place = ['-r', share.path, '--client_fs', share.fileSystem, '--pid_file', pidFile];
    await cluster.run('ceph-fuse', '-n', `client.${entity}`, ...limits, ...place, directory);
  } catch (error) {
    await unmount();
    throw error;
  }
  const pid = Number(await readFile(pidFile, 'utf8'));
  const file = path.join(directory, 'text');
  return {
    directory,
    address: await addressOf(cluster, pid, share.fileSystem),
    write: async (text) => {
      const opened = await open(file, 'w');
      try {
        await opened.writeFile(text);
        await opened.sync();
      } finally {
        await opened.close().catch(() => {});
      }
    },
    read: async () => await readFile(file, 'utf8').catch(emptyIfMissing),
    close: async () => {
      await execute('umount', directory);
      // Its session ends with the process.
      while (existsSync(`/proc/${pid}`)) await setTimeout(50);
      await rm(at, { recursive: true, force: true });
    },
    kill: async () => {
      if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
      await unmount();
    },
  };
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

/** The sessions of the metadata server name the process that made them. */
async function addressOf(cluster: Cluster, pid: number, fileSystem: string): Promise<string> {
  const output = await cluster.run('ceph', 'tell', `mds.${fileSystem}:0`, 'session', 'ls');
  const sessions = JSON.parse(output) as { inst: string; client_metadata: { pid?: string } }[];
  const own = sessions.find(({ client_metadata }) => client_metadata.pid === `${pid}`);
  const address = own?.inst.split(' ')[1];
  if (address === undefined) throw new Error(`There is no session of the process ${pid}.`);
  return address;
}
