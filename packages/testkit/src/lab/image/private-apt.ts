import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Apt, OWN_APT } from '@gantry/local/guest/fetch-packages';
import { runProgram } from '@gantry/local/guest/run-program';

/**
 * Lists of packages that apt on this computer does not have, in a folder of their own, so that the
 * system does not change. Updates the lists if this computer's own are newer, so that both have the
 * same age.
 */
export async function openPrivateApt({
  state,
  debian,
  suites,
}: {
  state: string;
  /** The architecture. */
  debian: string;
  /** Suites of Debian. Absent: what apt on this computer is configured to use. */
  suites?: readonly string[];
}): Promise<Apt> {
  const apt = { lists: path.join(state, 'lists'), env: { APT_CONFIG: path.join(state, 'conf') } };
  const [own, kept] = await Promise.all([changedAt(OWN_APT.lists), changedAt(apt.lists)]);
  if (kept > own) return apt;
  await mkdir(apt.lists, { recursive: true });
  await writeFile(path.join(state, 'status'), '');
  const settings = [
    `APT::Architecture "${debian}";`,
    `APT::Architectures { "${debian}"; };`,
    `Dir::State "${state}";`,
    `Dir::State::status "${path.join(state, 'status')}";`,
    `Dir::Cache "${path.join(state, 'cache')}";`,
    ...(suites === undefined ? [] : await useOnly(suites, state)),
  ];
  await writeFile(apt.env.APT_CONFIG, `${settings.join('\n')}\n`);
  await runProgram('apt-get', ['-q', 'update'], { env: apt.env });
  return apt;
}

const MIRROR = 'http://deb.debian.org/debian';
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';

async function useOnly(suites: readonly string[], state: string): Promise<string[]> {
  const sources = path.join(state, 'sources.list');
  const lines = suites.map((suite) => `deb [signed-by=${KEYS}] ${MIRROR} ${suite} main\n`);
  await writeFile(sources, lines.join(''));
  const nothing = ['sourceparts', 'preferences', 'preferencesparts'];
  return [
    `Dir::Etc::sourcelist "${sources}";`,
    ...nothing.map((name) => `Dir::Etc::${name} "/dev/null";`),
    'Acquire::Languages "none";',
  ];
}

/** When a file or folder was changed. 0: there is none. */
export async function changedAt(place: string): Promise<number> {
  return (await stat(place).catch(() => undefined))?.mtimeMs ?? 0;
}
