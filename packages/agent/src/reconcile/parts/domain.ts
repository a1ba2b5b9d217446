import type { VmSpec, VmTakeDown } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import { findDomain, type Part, type Removal } from './part.ts';

/** The running guest. */
export const domain: Part = {
  name: 'domain',

  async ensure(host, vm) {
    // Defined every time, because a definition with this revision may have been changed outside the
    // agent.
    await host.driver.hypervisor.define(vm);
    if ((await findDomain(host, vm.id))?.state === 'running') return;
    // Recorded before the start, so that a host that goes down during the start can be told from a
    // guest that crashes.
    await keepRunning(host, vm.id, vm.generation);
    await host.driver.hypervisor.start(vm.id, vm.generation);
  },

  async remove(host, vm, removal) {
    if (vm.graceful) await letEnd(host, vm, removal);
    if (removal.isOutdated()) return;
    const left = await findDomain(host, vm.id);
    if (left?.state === 'running') await host.driver.hypervisor.powerOff(vm.id);
    // Also if the domain is gone, because files stored for it may remain.
    await host.driver.hypervisor.undefine(vm.id);
  },
};

/**
 * Records the generation for which the VM runs or is about to run, unless it is recorded already.
 */
export async function keepRunning(
  host: HostContext,
  vmId: string,
  generation: string,
): Promise<void> {
  const facts = host.ledger.facts(vmId);
  const { hostBootId } = host;
  if (facts.generation === generation && facts.hostBootId === hostBootId && !facts.crashed) return;
  await host.ledger.updateFacts(vmId, { generation, hostBootId, crashed: false });
}

export async function resetDomain(host: HostContext, vm: VmSpec): Promise<void> {
  await host.driver.hypervisor.reset(vm.id, vm.generation);
  await keepRunning(host, vm.id, vm.generation);
}

/** Asks the guest once, and waits until it has ended or its time is over: also over a restart. */
async function letEnd(host: HostContext, vm: VmTakeDown, removal: Removal): Promise<void> {
  const { clock, timings, driver, ledger } = host;
  while (!removal.isOutdated() && (await findDomain(host, vm.id))?.state === 'running') {
    const { shutdownAskedMs } = ledger.facts(vm.id);
    if (shutdownAskedMs === 0) {
      await driver.hypervisor.askShutdown(vm.id);
      await ledger.updateFacts(vm.id, { shutdownAskedMs: clock.nowMs() });
      continue;
    }
    const leftMs = shutdownAskedMs + timings.shutdownMs - clock.nowMs();
    if (leftMs <= 0) return;
    await removal.rest(leftMs);
  }
}
