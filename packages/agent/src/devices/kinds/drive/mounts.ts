/** A line of mountinfo. */
export type Mount = { majorMinor: string; mountPoint: string; source: string };

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
    const [, source] = filesystem.split(' ');
    if (majorMinor === undefined || mountPoint === undefined || source === undefined) continue;
    mounts.push({ majorMinor, mountPoint: unescaped(mountPoint), source: unescaped(source) });
  }
  return mounts;
}

/** The devices and files of /proc/swaps. */
export function parseSwaps(text: string): string[] {
  const [, ...lines] = text.split('\n');
  return lines.flatMap((line) => {
    const name = line.split(/\s/)[0];
    return name ? [unescaped(name)] : [];
  });
}

/** The kernel writes white space and backslashes as \040. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
