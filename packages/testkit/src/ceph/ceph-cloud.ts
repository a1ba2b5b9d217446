import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { waitUntil } from '@gantry/local/base/wait-until';
import { expect } from 'vitest';
import type { Command, Processes } from '../processes/start-processes.ts';
import type { LibvirtHost } from '../real-host/host.ts';
import { shareLoopback } from '../real-host/loopback.ts';
import { addNamespace, ownName, removeNamespace } from '../real-host/namespaces.ts';
import { plugIn } from '../real-host/outside.ts';
import { LOCATION, type RealCloud, type Site, startRealCloud } from '../real-host/real-cloud.ts';
import type { CephOptions } from './ceph-config.ts';
import { startCeph, type TestCeph } from './start-ceph.ts';

/**
 * A cloud of real hosts whose disks are in a real Ceph cluster. The cluster and the scheduler are in a network namespace
 * of their own, and every host reaches them from an address of its own, as in a data centre.
 */
export type CephCloud = RealCloud & { ceph: TestCeph; poolId: string };

/** Where agents mount shared volumes unless told otherwise. */
const MOUNTS = '/run/gantry-agent';

const CLUSTER = 'lab';
const POOL = 'volumes';
/** The file system and its data pool. */
const SHARES = 'shares';
const REACHED_LIMIT_MS = 300_000;

export async function startCephCloud(
  names: readonly string[],
  {
    hasShares = false,
    ...options
  }: Omit<CephOptions, 'namespace' | 'address' | 'pools' | 'fileSystem' | 'mds'> & {
    /** Whether shared volumes are in the cluster too. */
    hasShares?: boolean;
  } = {},
): Promise<CephCloud> {
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const namespace = ownName('storage');
    await addNamespace(namespace);
    endings.push(() => removeNamespace(namespace));
    const { address, pull } = await plugIn(namespace);
    endings.push(pull);
    const ceph = await startCeph({
      ...{ ...options, namespace, address, pools: [POOL] },
      ...(hasShares ? { fileSystem: SHARES } : {}),
    });
    endings.push(ceph.stop);
    const cloud = await startRealCloud(names, siteIn({ namespace, address, ceph, endings }));
    endings.push(cloud.stop);
    const poolId = await connectPool(cloud, ceph);
    return {
      ...{ ...cloud, ceph, poolId, stop },
      get scheduler() {
        return cloud.scheduler;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Place = {
  namespace: string;
  address: string;
  ceph: TestCeph;
  endings: (() => Promise<void>)[];
};

function siteIn({ namespace, address, ceph, endings }: Place): Site {
  const command: Command = (...program) => ['ip', 'netns', 'exec', namespace, ...program];
  return {
    address,
    command,
    async prepare({ sql }: Processes) {
      const port = Number(sql.options.port[0]);
      const socket = path.join(ceph.directory, 'database.sock');
      endings.push(await shareLoopback({ namespace, port, socket }));
      const keys = path.join(ceph.directory, 'scheduler-keys');
      await mkdir(keys, { mode: 0o700 });
      await writeFile(path.join(keys, `${CLUSTER}.key`), `${ceph.key}\n`, { mode: 0o600 });
      return {
        GANTRY_FLEET_HOST: address,
        GANTRY_FLEET_NAMES: `${address},localhost,127.0.0.1`,
        GANTRY_STORAGE_KEYS_DIRECTORY: keys,
      };
    },
    connect: async ({ libvirtd }) => {
      if (ceph.mds === undefined) return;
      // Every host has mounts of its own, and they end with it.
      const mount = 'mkdir -p "$1" && mount -t tmpfs -o mode=0755 none "$1"';
      await libvirtd.run('sh', '-c', mount, 'sh', MOUNTS);
    },
    agentEnvironment: (host) => ({ GANTRY_STORAGE_ADDRESS: host.address }),
    ...(ceph.mds === undefined ? {} : { agentCommand: besideLibvirtd }),
  };
}

/**
 * Runs an agent where its libvirtd runs, so that virtiofsd sees what the agent mounts. The agent ends with `nsenter`, which
 * is the process that tests know.
 */
function besideLibvirtd({ libvirtd }: LibvirtHost): Command {
  return (program, ...args) => [
    ...(['nsenter', '--target', `${libvirtd.pids.libvirtd}`, '--mount', '--pid', '--net'] as const),
    ...['setpriv', '--pdeathsig', 'KILL', program, ...args],
  ];
}

/** Makes the cluster known to the cloud, and waits until a scheduler has reached it. */
async function connectPool({ client }: RealCloud, ceph: TestCeph): Promise<string> {
  const cluster = await client.admin('POST', '/storage/clusters', {
    ...{ name: CLUSTER, monitors: ceph.monitors, user_name: ceph.userName },
  });
  expect(cluster).toMatchObject({ status: 200 });
  const pool = await client.admin('POST', '/storage/pools', {
    ...{ storage_cluster_id: cluster.body.id, name: POOL, location: LOCATION },
    ...{ disk_type: 'persistent-ssd', overcommit_percent: 1_000 },
  });
  expect(pool).toMatchObject({ status: 200 });
  if (ceph.mds !== undefined) {
    const shares = await client.admin('POST', '/storage/pools', {
      ...{ storage_cluster_id: cluster.body.id, name: SHARES, file_system: SHARES },
      ...{ location: LOCATION, disk_type: 'shared-volume', overcommit_percent: 1_000 },
    });
    expect(shares).toMatchObject({ status: 200 });
  }
  const isReached = async () => {
    const { body } = await client.admin('GET', `/storage/clusters/${cluster.body.id}`);
    return (body.fsid === ceph.fsid && body.problem === '') || undefined;
  };
  if (!(await waitUntil({ limitMs: REACHED_LIMIT_MS, condition: isReached })))
    throw new Error(`no scheduler has reached the cluster within ${REACHED_LIMIT_MS} ms`);
  return pool.body.id;
}
