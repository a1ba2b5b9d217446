import type { VmSpec, VmTakeDown } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import { findDomain, type Part, type Removal } from './part.ts';

/** The running guest. */
export const domain: Part = {
  name: 'domain',

  async ensure(host, vm) {
    // Every time: the definition there is may be of this revision and changed by hand.
    await host.driver.hypervisor.define(vm);
    if ((await findDomain(host, vm.id))?.state === 'running') return;
    // First: a host that goes down with the start must be told from a guest that does.
    await keepRunning(host, vm.id, vm.boot);
    await host.driver.hypervisor.start(vm.id, vm.boot);
  },

  async remove(host, vm, removal) {
    if (vm.graceful) await letEnd(host, vm, removal);
    if (removal.isOutdated()) return;
    const left = await findDomain(host, vm.id);
    if (left?.state === 'running') await host.driver.hypervisor.powerOff(vm.id);
    // Also one that is gone: what was kept for it is not.
    await host.driver.hypervisor.undefine(vm.id);
  },
};

/** Writes down by which order it runs, or is about to, if that is news. */
export async function keepRunning(host: HostContext, vmId: string, boot: string): Promise<void> {
  const facts = host.ledger.facts(vmId);
  const { hostBootId } = host;
  if (facts.boot === boot && facts.hostBootId === hostBootId && !facts.crashed) return;
  await host.ledger.updateFacts(vmId, { boot, hostBootId, crashed: false });
}

export async function resetDomain(host: HostContext, vm: VmSpec): Promise<void> {
  await host.driver.hypervisor.reset(vm.id, vm.boot);
  await keepRunning(host, vm.id, vm.boot);
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
