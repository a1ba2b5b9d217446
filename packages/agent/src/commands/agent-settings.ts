import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { splitAddress } from '../identity/learn-authority.ts';

/** The directory with the host's identity and ledger. */
export function readStateDirectory(reader: SettingsReader): string {
  return reader.text('GANTRY_STATE_DIRECTORY', '/var/lib/gantry');
}

/** host:port of every scheduler. */
export function readSchedulers(reader: SettingsReader): string[] {
  const addresses = reader.text('GANTRY_SCHEDULERS').split(',');
  return addresses.map((address) => {
    const trimmed = address.trim();
    try {
      splitAddress(trimmed);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new SettingsError(`GANTRY_SCHEDULERS: ${reason}`, { cause: error });
    }
    return trimmed;
  });
}
