// The files of the image of the control plane, put into a folder for each layer.
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { FILL } from './package-contents.mjs';
import { place, placeText } from './place.mjs';
import { unpackNode } from './runtime.mjs';

/** The user of the processes, which owns no files: it has no shell, no home and no password. */
const USER = { name: 'gantry', id: 65_532 };

/** The libraries that Node and argon2 load. Node has its own roots of trust, time zones and crypto. */
const LIBRARIES = {
  arm64: {
    loader: 'lib/ld-linux-aarch64.so.1',
    folder: 'aarch64-linux-gnu',
  },
  amd64: {
    loader: 'lib64/ld-linux-x86-64.so.2',
    folder: 'x86_64-linux-gnu',
  },
};
const NAMES = [
  ...['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1'],
  ...['libstdc++.so.6', 'libgcc_s.so.1', 'libresolv.so.2', 'libnss_dns.so.2', 'libnss_files.so.2'],
];

/** Node and what it needs of a Debian root. It changes only with their versions. */
export async function fillRuntime(folder, { architecture, base }) {
  await unpackNode(architecture, folder);
  chmodSync(path.join(folder, 'usr/lib/gantry/node'), 0o755);
  const { loader, folder: triplet } = LIBRARIES[architecture];
  place(folder, loader, findIn(base, [loader, `usr/${loader}`]), 0o755);
  for (const name of NAMES) {
    const file = `lib/${triplet}/${name}`;
    place(folder, file, findIn(base, [file, `usr/${file}`]), 0o755);
  }
  const { name, id } = USER;
  placeText(folder, 'etc/passwd', `root:x:0:0::/:/none\n${name}:x:${id}:${id}::/:/none\n`);
  placeText(folder, 'etc/group', `root:x:0:\n${name}:x:${id}:\n`);
  placeText(folder, 'etc/nsswitch.conf', 'hosts: files dns\n');
  mkdirSync(path.join(folder, 'tmp'));
  chmodSync(path.join(folder, 'tmp'), 0o1777);
}

function findIn(base, names) {
  const found = names.map((name) => path.join(base, name)).find((file) => existsSync(file));
  if (!found) throw new Error(`${base} has no ${names[0]}: --base must be a root of Debian`);
  return realpathSync(found);
}

/** The programs, as the Debian package has them, without what only systemd and a shell can use. */
export async function fillPrograms(folder, { architecture, version }) {
  await FILL['gantry-control-plane']({ folder, architecture, version });
  for (const unused of ['etc', 'usr/sbin', 'usr/share', 'usr/lib/systemd', 'usr/lib/tmpfiles.d'])
    rmSync(path.join(folder, unused), { recursive: true, force: true });
  rmSync(path.join(folder, 'usr/lib/sysusers.d'), { recursive: true, force: true });
}

/** The command decides which process runs: the api unless another one is given. */
export const IMAGE_CONFIG = {
  User: `${USER.id}:${USER.id}`,
  Entrypoint: ['/usr/lib/gantry/node', '--enable-source-maps'],
  Cmd: ['/usr/lib/gantry/api/main.mjs'],
  WorkingDir: '/',
  // Processes warn about secrets in the environment.
  Env: ['NODE_ENV=production', 'PATH=/usr/lib/gantry'],
  ExposedPorts: { '7443/tcp': {}, '7480/tcp': {}, '7481/tcp': {}, '8080/tcp': {} },
  StopSignal: 'SIGTERM',
  Labels: {
    'org.opencontainers.image.title': 'Gantry control plane',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  },
};
