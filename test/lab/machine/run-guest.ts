import type { Lab } from './start-lab.ts';

/** A guest two levels down boots in a minute at worst. */
const LIMIT = { limitSeconds: 400 };

/**
 * Runs a guest in the lab's machine that gets these devices through VFIO, says what it sees of them
 * and ends; answers what it said. Where the machine has no KVM the guest would not come up in useful
 * time: QEMU then takes the devices, says what it has, and ends.
 */
export async function runGuest(lab: Lab, addresses: readonly string[]): Promise<string> {
  const hasKvm = (await lab.run('test -c /dev/kvm')).status === 0;
  const devices = addresses.flatMap((address, index) => [
    `-device pcie-root-port,id=port${index},chassis=${index + 1}`,
    `-device vfio-pci,host=${address},bus=port${index}`,
  ]);
  const common = `-m 384 -display none -nodefaults ${devices.join(' ')}`;
  if (!hasKvm) {
    const qemu = `qemu-system-x86_64 -machine q35,accel=tcg -S -monitor stdio ${common}`;
    return await lab.ask(`printf 'info pci\\nquit\\n' | ${qemu}`, LIMIT);
  }
  const machine = '-machine virt,gic-version=3,accel=kvm -cpu host -serial stdio';
  const boot = '-kernel /lab/guest-kernel -initrd /lab/guest-initramfs';
  const line = '-append "console=ttyAMA0 quiet"';
  return await lab.ask(`qemu-system-aarch64 ${machine} ${boot} ${line} ${common}`, LIMIT);
}
