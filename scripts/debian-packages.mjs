// What the libvirt, lab and browser suites need of Debian: says what is missing, and installs it where it may.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { run } from './workspace.mjs';

/**
 * Debian's and Ubuntu's packages, each with files that prove it is there: any one of them. Both
 * architectures' QEMU and firmware: libvirt only accepts definitions it could start.
 */
const PACKAGES = {
  'libvirt-daemon-system': ['/usr/sbin/libvirtd'],
  'libvirt-clients': ['/usr/bin/virsh'],
  'qemu-system-arm': ['/usr/bin/qemu-system-aarch64'],
  'qemu-system-x86': ['/usr/bin/qemu-system-x86_64'],
  'qemu-efi-aarch64': ['/usr/share/AAVMF/AAVMF_CODE.fd'],
  ovmf: ['/usr/share/OVMF/OVMF_CODE_4M.fd'],
  'qemu-utils': ['/usr/bin/qemu-img'],
  nftables: ['/usr/sbin/nft'],
  tcpdump: ['/usr/bin/tcpdump', '/usr/sbin/tcpdump'],
  'nvme-cli': ['/usr/sbin/nvme'],
  pciutils: ['/usr/bin/lspci'],
  iproute2: ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip'],
  procps: ['/usr/sbin/sysctl', '/sbin/sysctl'],
  'util-linux': ['/usr/bin/setpriv'],
  'openssh-client': ['/usr/bin/ssh'],
  'cloud-init': ['/usr/bin/cloud-init'],
  'libxml2-utils': ['/usr/bin/xmllint'],
  xorriso: ['/usr/bin/xorriso'],
  kmod: ['/usr/sbin/depmod', '/sbin/depmod'],
  e2fsprogs: ['/usr/sbin/mke2fs', '/sbin/mke2fs'],
  quota: ['/usr/sbin/setquota'],
  'xz-utils': ['/usr/bin/xz'],
  'busybox-static': ['/usr/bin/busybox', '/bin/busybox'],
  mmdebstrap: ['/usr/bin/mmdebstrap'],
  curl: ['/usr/bin/curl'],
  shellcheck: ['/usr/bin/shellcheck'],
  openssl: ['/usr/bin/openssl'],
  systemd: ['/usr/bin/systemd-analyze'],
  prometheus: ['/usr/bin/promtool'],
  'prometheus-alertmanager': ['/usr/bin/prometheus-alertmanager'],
  'apt-utils': ['/usr/bin/apt-ftparchive'],
  gnupg: ['/usr/bin/gpg'],
};

/** Signatures of images, backups, and shells with completion. Without them, their tests are skipped. */
const SYSTEM = {
  age: ['/usr/bin/age'],
  fish: ['/usr/bin/fish'],
  gnupg: ['/usr/bin/gpg'],
  gpgv: ['/usr/bin/gpgv'],
  'postgresql-client': ['/usr/bin/pg_dump'],
  zsh: ['/usr/bin/zsh', '/bin/zsh'],
};

/** A browser, and a font: without one it draws no text. */
const BROWSER = {
  chromium: ['/usr/bin/chromium'],
  'fonts-dejavu-core': ['/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'],
};

/** A storage cluster, what reaches it, and its server for buckets. */
const CEPH = {
  'ceph-mon': ['/usr/bin/ceph-mon'],
  'ceph-osd': ['/usr/bin/ceph-osd'],
  'ceph-mds': ['/usr/bin/ceph-mds'],
  'ceph-fuse': ['/usr/bin/ceph-fuse'],
  'ceph-common': ['/usr/bin/rbd'],
  'python3-cephfs': ['/var/lib/dpkg/info/python3-cephfs.list'],
  'python3-rados': ['/var/lib/dpkg/info/python3-rados.list'],
  'python3-rbd': ['/var/lib/dpkg/info/python3-rbd.list'],
  'qemu-block-extra': ['aarch64', 'x86_64'].map(
    (each) => `/usr/lib/${each}-linux-gnu/qemu/block-rbd.so`,
  ),
  'qemu-utils': ['/usr/bin/qemu-img'],
  radosgw: ['/usr/bin/radosgw'],
  'util-linux': ['/usr/bin/setpriv'],
};

/** What builds packages and boots a machine to install them on. */
const INSTALLING = {
  'apt-utils': ['/usr/bin/apt-ftparchive'],
  binutils: ['/usr/bin/strip'],
  'debian-archive-keyring': ['/usr/share/keyrings/debian-archive-keyring.gpg'],
  gnupg: ['/usr/bin/gpg'],
  mmdebstrap: ['/usr/bin/mmdebstrap'],
  systemd: ['/usr/bin/systemd-analyze'],
  'systemd-container': ['/usr/bin/systemd-nspawn'],
  'util-linux': ['/usr/bin/setpriv'],
};

/** What checks packages. */
const CHECKING = { lintian: ['/usr/bin/lintian'] };

const VIRTIOFSD = ['/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd'];
/** The tiny guest is made of packages that apt must know of: images of Debian come without lists. */
const OF_THE_GUEST = 'dropbear-bin';

/** The names of packages that are not installed. */
export function missingForLibvirt({ packages = PACKAGES, exists = existsSync } = {}) {
  return Object.entries(packages)
    .filter(([, files]) => !files.some((file) => exists(file)))
    .map(([name]) => name);
}

/** Why nothing can be installed here, or undefined. */
export function whyNotInstallable({
  hasApt = existsSync('/usr/bin/apt-get') && existsSync('/etc/debian_version'),
  userId = process.getuid?.(),
} = {}) {
  if (!hasApt) return 'this is neither Debian nor Ubuntu';
  if (userId !== 0) return 'installing them needs root';
  return undefined;
}

/** True, or why the suite cannot run; installs what is missing as root on Debian. */
export async function installForLibvirt() {
  const missing = await listMissing();
  const reason = whyNotInstallable();
  if (missing.length === 0 && (reason !== undefined || (await isOffered(OF_THE_GUEST)))) {
    return process.getuid?.() === 0 || 'it needs root';
  }
  if (reason !== undefined) return `missing are ${missing.join(', ')}, and ${reason}`;
  return await installMissing(listMissing);
}

/** True, or why the suite with the browser cannot run; installs what is missing as root on Debian. */
export function installForBrowser() {
  return installPackages(BROWSER);
}

/** The same for the suite with storage clusters, whose volumes are used by guests of libvirt. */
export async function installForCeph() {
  const possible = await installForLibvirt();
  return possible === true ? await installPackages(CEPH) : possible;
}

/** True, or why packages cannot be installed on a machine here. */
export async function installForInstall() {
  const reason = whyNoLab() ?? (process.getuid?.() === 0 ? undefined : 'it needs root');
  return reason ?? (await installPackages(INSTALLING));
}

/** The same for the whole life of an installation. Its guest needs what libvirt's suite needs. */
export async function installForInstallAll() {
  const possible = whyNoLab() ?? (await installForLibvirt());
  return possible === true ? await installPackages({ ...INSTALLING, ...CHECKING }) : possible;
}

async function installPackages(packages) {
  const missingNow = async () => missingForLibvirt({ packages });
  const missing = await missingNow();
  if (missing.length === 0) return true;
  const reason = whyNotInstallable();
  if (reason !== undefined) return `missing are ${missing.join(', ')}, and ${reason}`;
  return await installMissing(missingNow);
}

/** True unless what some tests of the suite need could not be installed where it may be. */
export async function installForSystem() {
  const missingNow = async () => missingForLibvirt({ packages: SYSTEM });
  const isComplete = (await missingNow()).length === 0;
  return isComplete || whyNotInstallable() !== undefined || (await installMissing(missingNow));
}

async function installMissing(list) {
  const failure = await withoutServices(() => install(list));
  if (failure !== undefined) return failure;
  const still = await list();
  return still.length === 0 || `after apt-get install still missing: ${still.join(', ')}`;
}

/** The same for the lab, whose machine is made of Debian's packages and runs on Debian's QEMU. */
export async function installForLab() {
  return whyNoLab() ?? (await installForLibvirt());
}

/** Why the lab's machine cannot be built here, or undefined. */
export function whyNoLab({
  release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '',
  architecture = process.arch,
} = {}) {
  if (!/^ID="?debian"?$/m.test(release))
    return 'the lab is made of Debian packages; this is not Debian';
  if (!['arm64', 'x64'].includes(architecture)) return 'the lab runs on arm64 and x64';
  return undefined;
}

async function install(list) {
  const apt = (...args) => run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], APT);
  if (!(await apt('update')).ok) return 'apt-get update failed; see above';
  const missing = await list();
  if (missing.length === 0) return undefined;
  const { ok } = await apt('install', '-y', '--no-install-recommends', ...missing);
  return ok ? undefined : `apt-get could not install ${missing.join(', ')}; see above`;
}

/** Older releases have virtiofsd in QEMU's own package; newer ones apart. */
async function listMissing() {
  const missing = missingForLibvirt();
  const isThere = VIRTIOFSD.some((file) => existsSync(file));
  return isThere || !(await isOffered('virtiofsd')) ? missing : [...missing, 'virtiofsd'];
}

const APT = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' } };

async function isOffered(name) {
  return (await run('apt-cache', ['show', name], { quiet: true })).ok;
}

const POLICY = '/usr/sbin/policy-rc.d';
const OUR_POLICY =
  '#!/bin/sh\n# Of a Gantry test run, and only meant to last as long: remove it.\nexit 101\n';

/** Tests start daemons of their own: what is installed for them starts none. */
async function withoutServices(work) {
  const text = existsSync(POLICY) ? readFileSync(POLICY, 'utf8') : undefined;
  // Left by a run that was killed, it is ours to remove.
  const isOurs = text === undefined || text === OUR_POLICY;
  if (text === undefined) writeFileSync(POLICY, OUR_POLICY, { mode: 0o755 });
  try {
    return await work();
  } finally {
    if (isOurs) rmSync(POLICY, { force: true });
  }
}
