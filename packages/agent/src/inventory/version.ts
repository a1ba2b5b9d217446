import { existsSync, readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };

/** A Debian package has its version in a file beside the program. */
const file = new URL('version', import.meta.url);

/** The agent's own version, which it reports to the control plane. */
export const AGENT_VERSION = existsSync(file)
  ? readFileSync(file, 'utf8').trim()
  : manifest.version;
