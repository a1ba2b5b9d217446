import type { Log } from '@gantry/daemon/log';
import type { Queryable } from '@gantry/db/connect';
import { listFleetAuthorities } from '@gantry/db/queries/hosts/fleet-authorities';
import type { AuthorityFiles } from '@gantry/pki/certificate-authority';
import { type Authorities, fingerprintsOf } from './authorities.ts';
import { readAuthorities } from './authority.ts';
import type { FleetSecrets } from './fleet-secrets.ts';

type Following = {
  sql: Queryable;
  fleetSecrets: FleetSecrets;
  given: AuthorityFiles | undefined;
  log: Log;
  /** The authorities that this process uses now. */
  known: Authorities;
  onAuthorities(changed: Authorities): void;
};

/**
 * Returns a function that notices when an operator begins or ends a rotation. Between two calls a
 * scheduler may refuse a host that another one has given a certificate of the new authority. The host
 * tries again.
 */
export function followAuthorities(options: Following): () => Promise<void> {
  const { sql, fleetSecrets, given, log, onAuthorities } = options;
  let known = fingerprintsOf(options.known).join();
  return async () => {
    const rows = await listFleetAuthorities(sql);
    const trusted = rows.filter(({ state }) => state !== 'withdrawn');
    if (trusted.map(({ fingerprint }) => fingerprint).join() === known) return;
    const changed = await readAuthorities({ sql, fleetSecrets, given });
    if (!changed) return;
    const authorities = fingerprintsOf(changed);
    known = authorities.join();
    log.info({ authorities }, "the fleet's authorities have changed");
    onAuthorities(changed);
  };
}
