import { type Finding, ok, warn } from '../../../base/finding.ts';
import type { CheckedHost } from '../kind-driver.ts';
import type { NvlinkPair } from './nvlink-pairs.ts';

/** PCIe cards with a connector for NVLink bridges: A100, A30, A40, H100, H100 NVL and H200 NVL. */
const BRIDGEABLE = new Set(
  ['20b5', '20b7', '20f1', '2235', '2321', '2331', '233b'].map((id) => `10de:${id}`),
);

/**
 * No file of the kernel shows a bridge, so only the operator knows whether there is one. `pairs` is what the operator
 * has stated; undefined: nothing.
 */
export async function checkNvlink(
  { devices }: CheckedHost,
  pairs: readonly NvlinkPair[] | undefined,
): Promise<Finding[]> {
  const bridgeable = devices.filter(({ vendorId, deviceId }) =>
    BRIDGEABLE.has(`${vendorId}:${deviceId}`),
  );
  if (pairs !== undefined) {
    const named = pairs.map((pair) => pair.join(' and ')).join(', ');
    return [ok('NVLink', named === '' ? 'no bridges' : `bridges between ${named}`)];
  }
  if (bridgeable.length < 2) return [];
  return [
    warn(
      'NVLink',
      `${bridgeable.length} GPUs can have NVLink bridges, and GANTRY_NVLINK_PAIRS is not set`,
      'list the bridges, or set it to none: a bridge must not join the GPUs of two VMs',
    ),
  ];
}
