import type { Domain } from '../../host-driver.ts';
import type { VmSpec, VmTakeDown } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';

/** One of the things a VM is made of on its host. Both may be repeated, and see for themselves what is there. */
export type Part = {
  name: string;
  ensure(host: HostContext, vm: VmSpec): Promise<void>;
  remove(host: HostContext, vm: VmTakeDown, removal: Removal): Promise<void>;
};

/** How the worker of a VM lets a removal wait. */
export type Removal = {
  /** Answers after the time, or as soon as there is reason to look again. */
  rest(delayMs: number): Promise<void>;
  /** Whether something else is wanted of the VM by now. */
  isOutdated(): boolean;
};

export async function findDomain(host: HostContext, vmId: string): Promise<Domain | undefined> {
  const domains = await host.driver.hypervisor.list();
  return domains.find((domain) => domain.vmId === vmId);
}
