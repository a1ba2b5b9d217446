import type { Sysfs } from '../../base/sysfs.ts';
import type { Platform } from '../domain-xml/domain-definition.ts';

const MODULES = ['kvm_intel', 'kvm_amd'];

/**
 * Returns whether guests on this host can run VMs. QEMU emulates AMD's virtualization. KVM on arm64
 * offers none to guests with the machine that Gantry defines.
 */
export async function offersNesting({ arch, accel }: Platform, sysfs: Sysfs): Promise<boolean> {
  if (arch !== 'x86_64') return false;
  if (accel === 'tcg') return true;
  const values = await Promise.all(
    MODULES.map((name) => sysfs.text(`module/${name}/parameters/nested`)),
  );
  return values.some((value) => value === 'Y' || value === '1');
}
