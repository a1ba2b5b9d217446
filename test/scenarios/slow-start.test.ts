import { gpu, makeSpec, makeTakeDown, makeVm } from '@gantry/agent/testing/make-spec';
import { AgentUnderTest } from '@gantry/simulator/testing/agent-under-test';
import { GPUS } from '@gantry/simulator/testing/make-inventory';
import { type ByteLevelLibvirt, serveLibvirt } from '@gantry/testkit/hosts/byte-level-libvirt';
import { type DrivenLibvirt, driveLibvirt } from '@gantry/testkit/hosts/drive-libvirt';
import { afterEach, beforeEach, expect, it } from 'vitest';

const VM = '6f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d36';
const OTHER = '7f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d37';
const MINUTE_MS = 60_000;
/** Half a TiB may take 19 minutes to be cleared and locked. */
const LARGE = makeVm(VM, { memoryMib: 512 * 1_024, devices: [gpu(GPUS[0])] });

let libvirt: ByteLevelLibvirt;
let host: AgentUnderTest;
let driven: DrivenLibvirt;

beforeEach(async () => {
  libvirt = await serveLibvirt();
  host = new AgentUnderTest();
  await startAgent();
});
afterEach(async () => {
  host.kill();
  await driven.close();
  await libvirt.close();
});

/** The agent of a simulated host whose domains are those of the byte-level libvirt. */
async function startAgent(): Promise<void> {
  const { driver: simulated, clock } = host;
  driven = await driveLibvirt({ libvirt, simulated, clock });
  await host.start({ driver: driven.driver });
}

const stateIn = (vmId: string) => libvirt.domain(vmId)?.state;
/** Lets a little time pass with every look, for whatever waits for its next attempt. */
const becomes = (vmId: string, revision: string, state: string) =>
  expect
    .poll(() => {
      host.clock.advance(100);
      return host.stateOf(vmId, revision);
    })
    .toBe(state);

it('a start of ten minutes succeeds, and other VMs start and end meanwhile', async () => {
  host.send(makeSpec(1, { vms: [LARGE] }));
  await expect.poll(() => stateIn(VM)).toBe('starting');
  host.clock.advance(10 * MINUTE_MS);
  host.send(makeSpec(2, { vms: [LARGE, makeVm(OTHER)] }));
  await expect.poll(() => stateIn(OTHER)).toBe('starting');
  libvirt.finishStart(OTHER);
  await becomes(OTHER, '1', 'RUNNING');
  const takeDown = makeTakeDown(OTHER, { graceful: false, disks: [`${OTHER}-os`] });
  host.send(makeSpec(3, { vms: [LARGE], takeDowns: [takeDown] }));
  await becomes(OTHER, '2', 'TAKEN_DOWN');
  expect(host.vm(VM)).toMatchObject({ state: 'VM_OBSERVED_STATE_WORKING', failure: null });
  libvirt.finishStart(VM);
  await becomes(VM, '1', 'RUNNING');
  expect(libvirt.domain(VM)?.starts).toBe(1);
});

it('an agent that is restarted during a start waits for it and does not start the VM again', async () => {
  host.send(makeSpec(1, { vms: [LARGE] }));
  await expect.poll(() => stateIn(VM)).toBe('starting');
  host.kill();
  await driven.close();
  await startAgent();
  await expect.poll(() => host.vm(VM)?.state).toBe('VM_OBSERVED_STATE_WORKING');
  host.clock.advance(10 * MINUTE_MS);
  expect(host.vm(VM)?.failure).toBeNull();
  libvirt.finishStart(VM);
  await becomes(VM, '1', 'RUNNING');
  expect(host.vm(VM)?.generation).toBe('1');
  expect(libvirt.domain(VM)?.starts).toBe(1);
});

it('a removal ends a start that is in progress', async () => {
  host.send(makeSpec(1, { vms: [LARGE] }));
  await expect.poll(() => stateIn(VM)).toBe('starting');
  const entry = { graceful: false, disks: [`${VM}-os`], devices: LARGE.devices };
  host.send(makeSpec(2, { takeDowns: [makeTakeDown(VM, entry)] }));
  await becomes(VM, '2', 'TAKEN_DOWN');
  expect(libvirt.domain(VM)).toBeUndefined();
  expect(await host.driver.devices.list()).toEqual([]);
});

it('a start that never ends fails with the reason, is ended, and leaves nothing behind', async () => {
  host.send(makeSpec(1, { vms: [LARGE] }));
  await expect.poll(() => stateIn(VM)).toBe('starting');
  host.clock.advance(20 * MINUTE_MS);
  await becomes(VM, '1', 'FAILED');
  expect(host.vm(VM)?.failure).toMatchObject({
    code: 'start_timed_out',
    message: expect.stringMatching(/did not start within \d+ s and was ended/),
  });
  expect(libvirt.domain(VM)).toMatchObject({ state: 'shutoff', starts: 1 });
  const entry = { graceful: false, disks: [`${VM}-os`], devices: LARGE.devices };
  host.send(makeSpec(2, { takeDowns: [makeTakeDown(VM, entry)] }));
  await becomes(VM, '2', 'TAKEN_DOWN');
  expect(libvirt.domain(VM)).toBeUndefined();
  expect(await host.driver.devices.list()).toEqual([]);
  expect(await host.driver.volumes.list()).toEqual([]);
});
