/** A line of mountinfo. */
export type Mount = {
  majorMinor: string;
  mountPoint: string;
  /** "ext4", "nfs4", "fuse.ceph-fuse". */
  fileSystem: string;
  source: string;
  /** The options of the file system, not those of this mount of it. */
  options: string[];
};

/**
 * Bind mounts have their own lines with the same number. A file system over several devices, such
 * as btrfs, has a number that belongs to no device: only its source names one of the devices.
 */
export function parseMountinfo(text: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    // "36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/sda1 rw": optional fields end at the
    // dash.
    const [place = '', filesystem = ''] = line.split(' - ');
    const [, , majorMinor, , mountPoint] = place.split(' ');
    const [fileSystem = '', source, options = ''] = filesystem.split(' ');
    if (majorMinor === undefined || mountPoint === undefined || source === undefined) continue;
    mounts.push({
      ...{ majorMinor, mountPoint: unescaped(mountPoint), fileSystem },
      ...{ source: unescaped(source), options: options.split(',') },
    });
  }
  return mounts;
}

/** Returns the mount that shows a path, which must be absolute and have no symbolic links. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | null {
  let found: Mount | null = null;
  for (const mount of mounts) {
    const { mountPoint } = mount;
    const inside = mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);
    // A later mount at the same place covers the earlier one.
    if (inside && mountPoint.length >= (found?.mountPoint.length ?? 0)) found = mount;
  }
  return found;
}

/** The kernel writes white space and backslashes as \040. */
export function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
