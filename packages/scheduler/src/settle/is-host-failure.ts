/** Failures that would be the same on every host, because of the image, the request or lost data. */
const NOT_OF_THE_HOST = new Set([
  'bad_disk',
  'bad_seed',
  'bad_spec',
  'disk_damaged',
  'disk_missing',
  'disk_shrink',
  'image_too_large',
  'image_unavailable',
  'invalid_firewall_rule',
  'invalid_interface',
  'invalid_network',
  'too_many_disks',
  'unprintable_text',
]);

/** Returns whether a VM that failed for this reason may succeed on another host. */
export function isHostFailure({ code }: { code: string }): boolean {
  return !NOT_OF_THE_HOST.has(code);
}
