import { readHostDriverSettings } from '@gantry/agent/libvirt/host-driver-settings';
import {
  type LibvirtHostDriver,
  openLibvirtHostDriver,
} from '@gantry/agent/libvirt/libvirt-host-driver';
import { createLog, type Log } from '@gantry/daemon/log';
import { createSettingsReader } from '@gantry/daemon/settings';

export const testLog: Log = createLog({
  process: 'test',
  level: process.env['GANTRY_TEST_LOG'] ?? 'silent',
});

/** What a host driver in this process needs to know about a host in a namespace. */
export type MachinePlace = { environment: Record<string, string>; namespace: string };

/** The driver of a host, with stand-ins for its GPUs. */
export async function openHostDriver({
  environment,
  namespace,
}: MachinePlace): Promise<LibvirtHostDriver> {
  const reader = createSettingsReader({ ...environment, GANTRY_STAND_IN_DEVICES: '1' });
  return await openLibvirtHostDriver(
    { ...readHostDriverSettings(reader), netns: namespace },
    testLog,
  );
}
