import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import {
  connectGetDomainCapabilities,
  domainDefineXmlFlags,
} from 'node-libvirt/generated/procedures';
import { HostFailure } from '../base/failure.ts';
import { CHANGE_LIMIT } from './call-limits.ts';
import type { DomainDefinition, Platform } from './domain-xml/domain-definition.ts';
import { renderDomain } from './domain-xml/render-domain.ts';

/** Throws `hardware_unavailable` if the VM keeps a machine type that QEMU no longer has. */
export async function defineXml(
  connection: Connection,
  definition: DomainDefinition,
): Promise<void> {
  const { platform } = definition;
  const args = { xml: renderDomain(definition), flags: 0 };
  try {
    await connection.call(domainDefineXmlFlags, args, CHANGE_LIMIT);
  } catch (error) {
    if (await isMachineTypeKnown(connection, platform)) throw error;
    const message =
      `the VM keeps the machine type ${platform.machineType}, which ${platform.emulator} no longer ` +
      'supports: install a QEMU that does, or STOP and START the VM, which gives it a newer one';
    throw new HostFailure('hardware_unavailable', message, { cause: error });
  }
}

async function isMachineTypeKnown(
  connection: Connection,
  { emulator, arch, machineType, accel }: Platform,
): Promise<boolean> {
  const virttype = accel === 'kvm' ? 'kvm' : 'qemu';
  const args = { emulatorbin: emulator, arch, machine: machineType, virttype, flags: 0 };
  try {
    await connection.call(connectGetDomainCapabilities, args, CHANGE_LIMIT);
    return true;
  } catch (error) {
    return !isLibvirtError(error, LIBVIRT_ERROR.invalidArgument);
  }
}
