import { readFile, realpath } from 'node:fs/promises';
import { type Mount, mountOf, parseMountinfo } from '../../base/mountinfo.ts';
import { nearestDirectory } from '../../base/nearest-directory.ts';

/**
 * What the file system of a directory can do about the sizes of the directories in it.
 *
 * `enforced`: it has project quotas, and they are on. `off`: it could have them. `cluster`: several hosts may have it
 * mounted, so no host can count for all. `incapable`: it has no project quotas.
 */
export type QuotaMount = {
  state: 'enforced' | 'off' | 'cluster' | 'incapable';
  fileSystem: string;
  /** How the programs of the package `quota` name the file system. */
  mountPoint: string;
};

const MOUNTS = '/proc/self/mountinfo';
const CAPABLE = ['ext4', 'xfs'];
/** Both file systems show the option by this name, whichever of its names it was mounted with. */
const OPTION = 'prjquota';
const CLUSTER = /^(nfs4?|cifs|smb3|ceph|lustre|beegfs|gpfs|ocfs2|gfs2|9p|virtiofs|fuse(\..*)?)$/;

/** Reads about the file system that contains a directory, or would contain it. */
export async function readQuotaMount(directory: string): Promise<QuotaMount | null> {
  const path = await realpath(await nearestDirectory(directory));
  return judgeMount(path, parseMountinfo(await readFile(MOUNTS, 'utf8')));
}

/** Returns null if no mount shows the path. */
export function judgeMount(path: string, mounts: readonly Mount[]): QuotaMount | null {
  const mount = mountOf(path, mounts);
  if (mount === null) return null;
  const { fileSystem, majorMinor, mountPoint } = mount;
  // A bind mount can show a part of the file system, and the programs know only its first mount.
  const first = mounts.find((each) => each.majorMinor === majorMinor);
  return { state: stateOf(mount), fileSystem, mountPoint: first?.mountPoint ?? mountPoint };
}

function stateOf({ fileSystem, options }: Mount): QuotaMount['state'] {
  if (CAPABLE.includes(fileSystem)) return options.includes(OPTION) ? 'enforced' : 'off';
  return CLUSTER.test(fileSystem) ? 'cluster' : 'incapable';
}
