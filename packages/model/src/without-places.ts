const PATH = /(?<![\w.:/-])\/(?:[^\s/:'",]+\/)*([^\s/:'",]*)/g;
const ADDRESS =
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+(?:\/\d+)?)?|\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d+(?:\/\d+)?)?/gi;
const FILE = /\.\w+$/;

/**
 * Returns a message without the paths and addresses of the cloud's own machines, for tenants. Messages of libvirt, QEMU,
 * Ceph and the system have them. Operators find the whole message in the log of the process that failed.
 */
export function withoutPlaces(message: string): string {
  return message
    .replace(PATH, (_, last: string) => (FILE.test(last) ? last : '…'))
    .replace(ADDRESS, '…');
}
