import { readPlatform } from './platforms.ts';
import type { Lab } from './start-lab.ts';

/** A guest two levels down boots in a minute at worst. */
const LIMIT = { limitSeconds: 400 };

/**
 * Runs a guest with these devices in the lab's machine, by VFIO and KVM. The guest prints what it sees
 * of them and powers off. Returns what it printed.
 */
export async function runGuest(lab: Lab, addresses: readonly string[]): Promise<string> {
  const { guest } = readPlatform();
  const devices = addresses.flatMap((address, index) => [
    `-device pcie-root-port,id=port${index},chassis=${index + 1}`,
    `-device vfio-pci,host=${address},bus=port${index}`,
  ]);
  const command = [
    `${guest.machine} -m 384 -display none -nodefaults -serial stdio`,
    '-kernel /lab/guest-kernel -initrd /lab/guest-initramfs',
    `-append "console=${guest.console} quiet"`,
    ...devices,
  ];
  return await lab.ask(command.join(' '), LIMIT);
}
