import { describeSlowDomainContract } from '@gantry/agent/testing/slow-domain-contract';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { makeInventory } from '@gantry/simulator/testing/make-inventory';
import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { type ByteLevelLibvirt, serveLibvirt } from '@gantry/testkit/hosts/byte-level-libvirt';
import { type DrivenLibvirt, driveLibvirt } from '@gantry/testkit/hosts/drive-libvirt';
import { afterEach, describe } from 'vitest';

/** The simulator fulfils the same contract: packages/simulator/src/driver/simulated-host-driver.test.ts. */
describe('the libvirt driver with a slow daemon', () => {
  let libvirt: ByteLevelLibvirt;
  let driven: DrivenLibvirt;
  afterEach(async () => {
    await driven.close();
    await libvirt.close();
  });

  describeSlowDomainContract(async () => {
    const clock = new ManualClock();
    const simulated = new SimulatedHostDriver({ inventory: makeInventory(), clock });
    libvirt = await serveLibvirt();
    driven = await driveLibvirt({ libvirt, simulated, clock });
    return {
      driver: driven.driver,
      find: libvirt.domain,
      finishStart: (vmId) => libvirt.finishStart(vmId),
      wedge: async (vmId) => {
        libvirt.lock(vmId);
        await driven.giveUp(vmId);
      },
      unwedge: (vmId) => libvirt.unlock(vmId),
    };
  });
});
