import { readFileSync } from 'node:fs';
import path from 'node:path';

const UNITS = path.resolve(import.meta.dirname, '../../../../deploy/systemd');

/**
 * The flags with which a systemd unit starts Node, so that a benchmark measures what operators run.
 */
export function unitFlags(unit: 'gantry-agent' | 'gantry-api' | 'gantry-scheduler'): string[] {
  const text = readFileSync(path.join(UNITS, `${unit}.service`), 'utf8');
  const [, flags] = /^ExecStart=\S*node((?: --\S+)*) /m.exec(text) ?? [];
  if (flags === undefined) throw new Error(`${unit}.service does not start Node`);
  return flags.trim().split(' ');
}
