import type { Sysfs } from '../../base/sysfs.ts';
import type { Platform } from '../domain-xml/domain-definition.ts';

/** The KVM module of each CPU feature. A kernel that has both modules built in shows both in sysfs. */
const MODULES = { vmx: 'kvm_intel', svm: 'kvm_amd' };

/**
 * Returns whether guests on this host can run VMs. QEMU emulates AMD's virtualization. KVM on arm64
 * offers none to guests with the machine that Gantry defines.
 */
export async function offersNesting(
  { arch, accel }: Platform,
  { sysfs, proc }: { sysfs: Sysfs; proc: Sysfs },
): Promise<boolean> {
  if (arch !== 'x86_64') return false;
  if (accel === 'tcg') return true;
  const flags = /^flags\s*:(.*)$/m.exec((await proc.text('cpuinfo')) ?? '')?.[1] ?? '';
  const features = flags.split(' ');
  for (const [feature, module] of Object.entries(MODULES)) {
    if (!features.includes(feature)) continue;
    const value = await sysfs.text(`module/${module}/parameters/nested`);
    return value === 'Y' || value === '1';
  }
  return false;
}
