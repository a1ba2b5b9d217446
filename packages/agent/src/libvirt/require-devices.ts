import { HostFailure } from '../base/failure.ts';
import type { DomainMetadata } from './domain-xml/domain-definition.ts';

/** Throws if a device of a domain is not assigned to its VM. */
export function requireDevices(
  { vmId, devices }: Pick<DomainMetadata, 'vmId' | 'devices'>,
  bound: ReadonlySet<string>,
): void {
  const missing = devices.map(({ address }) => address).filter((address) => !bound.has(address));
  if (missing.length > 0) {
    throw new HostFailure('device_missing', `${missing.join(', ')}: not bound for VM ${vmId}`);
  }
}
