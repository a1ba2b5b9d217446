import type { Domain } from '../../host-driver.ts';
import type { VmSpec, VmTakeDown } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';

/**
 * One of the things a VM consists of on its host. Both functions are idempotent and read the
 * current state themselves.
 */
export type Part = {
  name: string;
  ensure(host: HostContext, vm: VmSpec): Promise<void>;
  remove(host: HostContext, vm: VmTakeDown, removal: Removal): Promise<void>;
};

/** How a removal waits within its VM's worker. */
export type Removal = {
  /** Returns after the time, or earlier if there is a reason to read the state again. */
  rest(delayMs: number): Promise<void>;
  /** Whether the desired state of the VM has changed. */
  isOutdated(): boolean;
};

export async function findDomain(host: HostContext, vmId: string): Promise<Domain | undefined> {
  const domains = await host.driver.hypervisor.list();
  return domains.find((domain) => domain.vmId === vmId);
}
