import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { recipeKey, removeOld } from '@gantry/local/guest/recipe';
import { runProgram } from '@gantry/local/guest/run-program';

const self = fileURLToPath(import.meta.url);
const directory = fileURLToPath(new URL('../../../.gantry/install/roots', import.meta.url));
const DESCRIPTIONS = fileURLToPath(
  new URL('../../../scripts/package/describe-packages.mjs', import.meta.url),
);

export type Release = 'bookworm' | 'trixie';

/** The database, a proxy that terminates TLS, what the line that operators paste uses, and what volumes of Ceph need. */
const BESIDE = [
  ...['postgresql', 'nginx-light', 'curl', 'sudo', 'ca-certificates'],
  'qemu-block-extra',
];

/**
 * mmdebstrap mounts /proc, /sys and parts of /dev in the folder. They are mounted in a namespace of its own, so that
 * none of them is left if the test is killed, and the folder can be removed without harm.
 */
const OWN_MOUNTS = [
  ...['--pdeathsig', 'KILL', 'unshare', '--mount', '--propagation', 'private'],
  ...['--pid', '--fork', '--mount-proc', '--kill-child=KILL', '--'],
];

/**
 * Returns the folder of a minimal Debian with systemd. What Gantry's packages and the test need of Debian
 * is downloaded and not installed, because the machine has no network: apt installs it there.
 *
 * Invariant: the folder is complete, because it gets its name at the end, and is never written to again.
 */
export async function prepareRoot(release: Release): Promise<string> {
  const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';
  const { PACKAGES } = await import(DESCRIPTIONS);
  const needed = Object.values<{ depends(architecture: string): string[] }>(PACKAGES)
    .flatMap(({ depends }) => depends(architecture))
    .filter((name) => !name.startsWith('gantry-node'));
  const key = await recipeKey([{ file: needed.join(), sha256: '' }], [self]);
  const root = path.join(directory, `${release}-${architecture}-${key}`);
  if (existsSync(root)) return root;
  await mkdir(directory, { recursive: true });
  await removeOld(directory, `${release}-`);
  const workspace = await mkdtemp(path.join(directory, `building-${process.pid}-`));
  try {
    const made = path.join(workspace, 'root');
    const download = 'apt-get satisfy --download-only --no-install-recommends -y';
    await runProgram('setpriv', [
      ...OWN_MOUNTS,
      ...[
        'mmdebstrap',
        '--quiet',
        '--variant=minbase',
        '--mode=root',
        '--include=systemd-sysv,dbus',
      ],
      // Neither the root nor a machine with it has to survive a crash, so dpkg does not wait for the disk.
      '--dpkgopt=force-unsafe-io',
      // The lists and the packages stay. Documentation is part of what a purge has to remove.
      ...['--skip=cleanup/apt', '--aptopt=APT::Keep-Downloaded-Packages "true"'],
      '--aptopt=Binary::apt-get::APT::Keep-Downloaded-Packages "true"',
      `--customize-hook=chroot "$1" ${download} '${[...needed, ...BESIDE].join(', ')}'`,
      ...[release, made],
    ]);
    await rename(made, root);
    return root;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
