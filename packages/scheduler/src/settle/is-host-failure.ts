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
  'pool_full',
  'storage_denied',
  'too_many_disks',
  'unprintable_text',
]);

/**
 * Failures that another host may not have, and that are still no reason to avoid the host: if a storage cluster does
 * not reply, every host fails in this way, and none of them may be taken out of service for it.
 */
const NOT_COUNTED = new Set(['storage_unreachable']);

/** Returns whether the failure counts against the host. */
export function countsAgainstHost({ code }: { code: string }): boolean {
  return !NOT_COUNTED.has(code);
}

/** Returns whether a VM that failed for this reason may succeed on another host. */
export function isHostFailure({ code }: { code: string }): boolean {
  return !NOT_OF_THE_HOST.has(code);
}
