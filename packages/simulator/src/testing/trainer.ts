import type { VmSpec } from '@gantry/agent/spec';
import { drive, gpu, makeSpec, makeVm } from '@gantry/agent/testing/make-spec';
import type { AgentUnderTest } from './agent-under-test.ts';
import { DRIVES, GPUS } from './make-inventory.ts';

export const [GPU_A, GPU_B] = GPUS;
export const [DRIVE] = DRIVES;
/** A VM with a device of each kind. */
export const TRAINER = makeVm('vm-1', { devices: [gpu(GPU_A), gpu(GPU_B), drive(DRIVE)] });

/** The VM's entry in the host's first spec. */
export async function bringUp(host: AgentUnderTest, vm: VmSpec = TRAINER): Promise<void> {
  host.send(makeSpec(1, { vms: [vm] }));
  await host.untilState(vm.id, vm.revision, 'RUNNING');
}
