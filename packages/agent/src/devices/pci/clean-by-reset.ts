import type { CleaningOutcome } from '../../host-driver.ts';
import { bindToHost } from './bind-driver.ts';
import type { PciHost } from './pci-control.ts';
import type { PciFunction } from './pci-function.ts';
import { resetCard } from './reset-card.ts';

/**
 * Cleans a device that keeps nothing over a reset, and returns each function to the driver that it
 * had before. A device that failed its reset stays with VFIO.
 */
export async function cleanByReset(
  host: PciHost,
  {
    functions,
    before,
  }: {
    functions: readonly PciFunction[];
    before: { drivers: Record<string, string> } | null;
  },
): Promise<CleaningOutcome> {
  const outcome = await resetCard(host, functions);
  if (outcome.failure) return outcome;
  for (const { address, driver } of functions) {
    await bindToHost(host, { address, driver: before?.drivers[address] ?? driver });
  }
  return outcome;
}
