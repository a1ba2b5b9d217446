import type { OpenVolumeSecret } from '../deliver/host-spec.ts';
import type { VolumeContext } from './volume-context.ts';
import { KEY_PURPOSE } from './volume-keys.ts';
import { PASSPHRASE_PURPOSE } from './volume-passphrases.ts';

/** Returns the function that opens keys and passphrases for delivery. One that cannot be opened is logged. */
export function volumeSecretOpener({
  secrets,
  log,
}: Pick<VolumeContext, 'secrets' | 'log'>): OpenVolumeSecret {
  return (kind, sealed) => {
    try {
      return secrets.unseal(kind === 'key' ? KEY_PURPOSE : PASSPHRASE_PURPOSE, sealed);
    } catch (error) {
      log.error({ error, kind }, 'a secret of a volume cannot be opened: check GANTRY_FLEET_KEY');
      return null;
    }
  };
}
