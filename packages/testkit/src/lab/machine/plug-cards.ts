import { waitUntil } from '@gantry/local/base/wait-until';

/** The firmware numbers the buses within seconds; a busy computer needs longer. */
const FIRMWARE_LIMIT_MS = 120_000;

type Monitor = (execute: string, args?: object) => Promise<unknown>;
type Bridge = { qdev_id: string; pci_bridge?: { bus: { secondary: number }; devices?: Bridge[] } };

/**
 * Plugs the cards into a machine that has just been switched on, and resets the machine, so that it
 * boots with them.
 *
 * QEMU's amd-iommu looks up a card's mappings by the number that its bus had when the card was
 * plugged in. Behind a port that number is 0 until the firmware has numbered the buses, so that a
 * card which is there from the start never finds its mappings.
 */
export async function plugCards(cards: readonly string[], monitor: Monitor): Promise<void> {
  const condition = async () => {
    const [root] = (await monitor('query-pci')) as [{ devices: Bridge[] }];
    return bridgesOf(root.devices).every(({ bus }) => bus.secondary > 0) || undefined;
  };
  const hasNumbers = await waitUntil({ limitMs: FIRMWARE_LIMIT_MS, condition });
  if (!hasNumbers) throw new Error('The firmware of the lab has not numbered the PCI buses.');
  for (const card of cards) {
    const problem = await monitor('human-monitor-command', {
      'command-line': `device_add ${card}`,
    });
    if (problem) throw new Error(`QEMU cannot plug in ${card}: ${problem}`);
  }
  await monitor('system_reset');
}

function bridgesOf(devices: readonly Bridge[] = []): NonNullable<Bridge['pci_bridge']>[] {
  return devices.flatMap(({ pci_bridge: bridge }) =>
    bridge ? [bridge, ...bridgesOf(bridge.devices)] : [],
  );
}
