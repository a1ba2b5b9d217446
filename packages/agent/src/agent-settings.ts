import { ConfigError, type ConfigReader } from '@gantry/daemon/config';
import { splitAddress } from './identity/learn-authority.ts';

/** Where a host keeps who it is and what it was told to do. */
export function readStateDirectory(config: ConfigReader): string {
  return config.text('GANTRY_STATE_DIRECTORY', '/var/lib/gantry');
}

/** host:port of every scheduler. */
export function readSchedulers(config: ConfigReader): string[] {
  const addresses = config.text('GANTRY_SCHEDULERS').split(',');
  return addresses.map((address) => {
    const trimmed = address.trim();
    try {
      splitAddress(trimmed);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`GANTRY_SCHEDULERS: ${reason}`, { cause: error });
    }
    return trimmed;
  });
}
