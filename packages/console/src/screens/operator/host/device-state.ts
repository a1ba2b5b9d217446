import type { Schemas } from '@gantry/sdk';
import type { GpuState } from '../fleet-map/layout.ts';
import { describeHost } from './describe-host.ts';

export type Device = Schemas['HostGpu'] | Schemas['HostDrive'];

/** The state of a device as on the map. A host does not say whether a device is being cleaned. */
export function deviceUse(device: Device, host: Schemas['Host']): GpuState {
  if (device.vm_id !== '') return 'sold';
  return blockedReason(device, host) === '' ? 'free' : 'blocked';
}

/** Why no VM can get the device; empty if one can. */
export function blockedReason(device: Device, host: Schemas['Host']): string {
  const isOpen = describeHost(host).tone === 'good';
  return ownProblem(device) || (isOpen ? '' : 'its host takes no new VMs');
}

/** What keeps VMs from the device even if its host takes them; empty if nothing does. */
export function ownProblem(device: Device): string {
  if (device.quarantine_reason !== '') return `quarantined: ${device.quarantine_reason}`;
  if (device.state === 'missing') return 'missing: its host does not find it';
  if (device.state === 'used_by_host') return 'the host itself uses it';
  if (device.state === 'quarantined') return device.state_reason || 'not proven clean';
  return device.problems.find(({ severity }) => severity === 'block')?.message ?? '';
}

export const isGpu = (device: Device): device is Schemas['HostGpu'] => 'model' in device;

export function nameOf(device: Device): string {
  return isGpu(device) ? device.model : `Drive ${device.size_gb.toLocaleString('en')} GB`;
}
