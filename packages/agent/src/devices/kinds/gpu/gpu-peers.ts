import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import type { PciDevice } from '../../pci/pci-device.ts';
import type { Peers } from '../kind-driver.ts';

/**
 * Which GPUs of a VM may exchange data directly. `switch`: those below one PCIe switch, where every
 * path is known to work. `root-complex`: also those below one root complex, which not every CPU
 * forwards; the operator has to know. `off`: none.
 */
export type PeerScope = 'switch' | 'root-complex' | 'off';
const SCOPES: readonly PeerScope[] = ['switch', 'root-complex', 'off'];

const NVIDIA = '10de';
/** The root port, the upstream port of the switch and one of its downstream ports. */
const BRIDGES_OF_SWITCH = 3;

/**
 * Returns the group of GPUs that a GPU can reach and the switch above it. Only NVIDIA's driver needs a
 * declared group; other drivers go by the PCIe tree. A switch below another counts as part of it,
 * because no path between its GPUs leaves the upper one.
 */
export function peersOf(
  { vendorId, bridges }: Pick<PciDevice, 'vendorId' | 'bridges'>,
  scope: PeerScope,
): Peers | null {
  const [rootPort, upstreamPort] = bridges;
  if (scope === 'off' || rootPort === undefined) return null;
  const isBelowSwitch = bridges.length >= BRIDGES_OF_SWITCH && upstreamPort !== undefined;
  const switchName = isBelowSwitch ? upstreamPort : null;
  // 0000:40:01.1 is a port of the root complex 0000:40.
  const reach = scope === 'root-complex' ? rootPort.replace(/:[^:]*$/, '') : switchName;
  const group = vendorId === NVIDIA ? reach : null;
  return group === null && switchName === null ? null : { group, switch: switchName };
}

export function readPeerScope(reader: SettingsReader): PeerScope {
  const text = reader.text('GANTRY_GPU_PEERS', 'switch');
  const scope = SCOPES.find((known) => known === text);
  if (scope !== undefined) return scope;
  throw new SettingsError(`GANTRY_GPU_PEERS must be ${SCOPES.join(', ')}, not "${text}"`);
}
