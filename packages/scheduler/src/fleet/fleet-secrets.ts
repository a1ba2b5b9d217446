import { createSecrets, linesOf, type Secrets } from '@gantry/daemon/secrets';
import { SettingsError } from '@gantry/daemon/settings';

/** The keys with which the keys of the fleet's authorities are sealed. */
export type FleetSecrets = {
  /** The keys that only schedulers have; the secret key in an installation without fleet keys. */
  secrets: Secrets;
  /**
   * The secret key, which api processes have, too. It only opens the first authority, which may be
   * older than the fleet key. A later one must not open with it: a stolen api could store an
   * authority of its own, and schedulers would tell hosts to trust it.
   */
  legacy?: Secrets;
};

export function createFleetSecrets({
  fleetKey,
  secretKey,
}: {
  fleetKey: string | undefined;
  secretKey: string;
}): FleetSecrets {
  const legacy = createSecrets(secretKey);
  if (fleetKey === undefined) return { secrets: legacy };
  const known = new Set(linesOf(secretKey));
  if (linesOf(fleetKey).some((key) => known.has(key))) {
    throw new SettingsError(
      'GANTRY_FLEET_KEY must not be GANTRY_SECRET_KEY, which api processes have',
    );
  }
  return { secrets: createSecrets(fleetKey, 'GANTRY_FLEET_KEY'), legacy };
}
