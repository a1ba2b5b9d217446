import { readFileSync } from 'node:fs';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';

/** Where a server that joins gets its packages, and how it reaches the schedulers. */
export type JoinSettings = {
  /** What follows `deb` in a line of sources.list: URL, suite and components. Undefined: there is no repository. */
  aptSource: string | undefined;
  /** The public key of the repository, in ASCII armour. Undefined: apt's own keys must be enough. */
  aptKey: string | undefined;
  /** host:port of each scheduler. Undefined: the host of the api's public URL, with the default port. */
  schedulers: string[] | undefined;
};

const SOURCE = /^https?:\/\/[^\s[\]'"\\]+( [A-Za-z0-9._/-]+)+$/;
const ADDRESS = /^[A-Za-z0-9.:[\]-]+:[0-9]{1,5}$/;
const KEY_START = '-----BEGIN PGP PUBLIC KEY BLOCK-----';

export function readJoinSettings(reader: SettingsReader): JoinSettings {
  const aptSource = reader.optional('GANTRY_APT_SOURCE');
  if (aptSource !== undefined && !SOURCE.test(aptSource)) {
    throw new SettingsError(
      'GANTRY_APT_SOURCE must be a URL, a suite and components, such as "https://apt.example.com/gantry stable main"',
    );
  }
  const schedulers = reader.optional('GANTRY_JOIN_SCHEDULERS')?.split(',');
  for (const address of schedulers ?? []) {
    if (!ADDRESS.test(address))
      throw new SettingsError(`GANTRY_JOIN_SCHEDULERS: "${address}" must be host:port`);
  }
  return { aptSource, aptKey: readKey(reader.optional('GANTRY_APT_KEY_FILE')), schedulers };
}

function readKey(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let key: string;
  try {
    key = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new SettingsError(`GANTRY_APT_KEY_FILE cannot be read: ${file}`, { cause });
  }
  if (!key.startsWith(KEY_START))
    throw new SettingsError(`GANTRY_APT_KEY_FILE must be a public key in ASCII armour: ${file}`);
  return key;
}

/** The port at which schedulers wait for hosts, unless GANTRY_FLEET_PORT has another one. */
const FLEET_PORT = 7443;

/** Returns host:port of each scheduler, as a server that joins reaches it. */
export function schedulersOf({ schedulers }: JoinSettings, publicUrl: string): string[] {
  return schedulers ?? [`${new URL(publicUrl).hostname}:${FLEET_PORT}`];
}
