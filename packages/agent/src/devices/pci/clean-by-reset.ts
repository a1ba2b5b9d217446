import type { CleaningOutcome } from '../../host-driver.ts';
import { bindToHost } from './bind-driver.ts';
import type { PciHost } from './pci-control.ts';
import type { PciFunction } from './pci-function.ts';
import { resetCard } from './reset-card.ts';

/**
 * Resets a device, cleans it further if `more` is given, and returns each function to the driver that
 * it had before. A device that failed stays with VFIO.
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
  more: (outcome: CleaningOutcome) => Promise<CleaningOutcome> = async (outcome) => outcome,
): Promise<CleaningOutcome> {
  const reset = await resetCard(host, functions);
  const outcome = reset.failure ? reset : await more(reset);
  if (outcome.failure) return outcome;
  for (const { address, driver } of functions) {
    await bindToHost(host, { address, driver: before?.drivers[address] ?? driver });
  }
  return outcome;
}
