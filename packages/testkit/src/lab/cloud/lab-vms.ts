import { waitUntil } from '@gantry/local/base/wait-until';
import { expect } from 'vitest';
import type { Client, Operation } from '../../processes/client.ts';
import { LOCATION } from './start-lab-cloud.ts';

/** A guest in an emulated machine needs minutes for what other guests do in seconds. */
const OPERATION_LIMIT_MS = 1_800_000;

type LabType = {
  name: string;
  gpu: string;
  gpus?: number;
  drives?: number;
  cores?: number;
  memoryGb?: number;
  maySplit?: boolean;
};

/** Creates a VM type that fits the lab's machine. PCI ids name its GPU, as for unknown cards. */
export async function offerType(client: Client, fields: LabType): Promise<void> {
  const { name, gpu, gpus = 1, drives = 0, cores = 1, memoryGb = 1, maySplit = false } = fields;
  const type = {
    ...{ name, description: 'For the lab', locations: [LOCATION], may_split: maySplit },
    ...{ cpu_cores: cores, cpu_type: 'any', memory_gb: memoryGb, memory_type: 'any' },
    ...{ disk_gb: drives, disk_type: drives > 0 ? 'nvme' : 'none', disk_count: drives },
    ...{ gpu_count: gpus, gpu_type: gpu, network_gbps: 0 },
  };
  expect(await client.admin('POST', '/vm-types', type)).toMatchObject({ status: 200 });
}

/** Waits until an operation ends, expects success and returns the operation's result. */
export async function succeeded(client: Client, operation: Operation): Promise<Operation> {
  const condition = async () => {
    const now = await client.read(operation);
    return now.state === 'IN_PROGRESS' ? undefined : now;
  };
  const ended = await waitUntil({ limitMs: OPERATION_LIMIT_MS, condition });
  expect(ended, JSON.stringify(ended.result)).toMatchObject({ state: 'SUCCEEDED' });
  return ended.result;
}

/** Returns the log of a VM's console. */
export async function serialLog(client: Client, vmId: string): Promise<string> {
  const { body } = await client.call('GET', `/vms/${vmId}/serial-log`);
  return body.serial_log ?? '';
}
