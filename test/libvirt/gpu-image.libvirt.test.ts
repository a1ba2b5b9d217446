import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { documented } from '@gantry/testkit/docs/documented';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** `$0` gets a view of this machine whose only packages are those of the folder `$1`. */
const MAKE_VIEW = `
  mount -t tmpfs tmpfs "$0" && mkdir "$0/upper" "$0/work" "$0/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
  mount --rbind /proc "$0/root/proc" && mount --rbind /dev "$0/root/dev"
  rm -f "$0/root/etc/apt/sources.list" "$0"/root/etc/apt/sources.list.d/*
  rm -rf "$0"/root/var/lib/apt/lists/*
  mkdir -p "$0/root/mirror" && mount --bind "$1" "$0/root/mirror"
`;

const images = path.resolve(import.meta.dirname, '../../deploy/images');

/**
 * The scripts that build a GPU image, with real apt and dpkg, in a copy-on-write view of this machine. Nothing boots:
 * a program in the place of QEMU does with the seed what cloud-init does in the guest. The only repository has packages
 * with the names of the real ones, signed with a key of the test.
 */
describe('the software of a GPU image', () => {
  let directory: string;
  const inside = (...names: string[]) => path.join(directory, ...names);

  beforeAll(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'gantry-gpu-image-'));
    // apt reads as a user of its own.
    chmodSync(directory, 0o755);
    cpSync(images, inside('images'), { recursive: true });
    makeRepository();
  });
  afterAll(() => {
    execFileSync('gpgconf', ['--homedir', inside('gnupg'), '--kill', 'all']);
    rmSync(directory, { recursive: true, force: true });
  });

  function makeRepository(): void {
    mkdirSync(inside('gnupg'), { mode: 0o700 });
    const gpg = (...args: string[]) =>
      execFileSync('gpg', ['--homedir', inside('gnupg'), '--batch', '--quiet', ...args]);
    gpg('--passphrase', '', '--quick-gen-key', 'A mirror', 'ed25519', 'sign', 'never');
    mkdirSync(inside('repository'));
    writeFileSync(inside('key.gpg'), gpg('--export'));
    for (const name of ['nvidia-open', 'nvidia-container-toolkit']) makePackage(name);
    const run = (command: string) =>
      execFileSync('sh', ['-c', command], { cwd: inside('repository') });
    run('apt-ftparchive packages . > Packages && apt-ftparchive release . > ../Release');
    run('mv ../Release .');
    gpg('--clearsign', '--output', inside('repository/InRelease'), inside('repository/Release'));
  }

  function makePackage(name: string): void {
    mkdirSync(inside(name, 'DEBIAN'), { recursive: true });
    const control = `Package: ${name}\nVersion: 1\nArchitecture: all\nMaintainer: A test <test@example.com>\nDescription: stand-in\n`;
    writeFileSync(inside(name, 'DEBIAN/control'), control);
    const built = inside('repository', `${name}.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', inside(name), built]);
  }

  /** Everything that the script writes is in a file system in memory, which ends with it. */
  function install(...args: string[]): Promise<{ code: number; output: string }> {
    const view = inside('view');
    mkdirSync(view, { recursive: true });
    const script = `
      set -e
      ${MAKE_VIEW}
      shift
      chroot "$0/root" /mirror/images/install-gpu-software.sh "$@"
      chroot "$0/root" sh -c 'echo "machine-id: <$(cat /etc/machine-id)>"; ls /var/lib/apt/lists'`;
    return new Promise((resolve) => {
      const all = ['--mount', 'sh', '-c', script, view, directory, ...args];
      execFile('unshare', all, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  }

  /** Boots nothing: writes the files of the seed into a view of this machine, and runs the script that cloud-init runs. */
  function writeEmulator(): void {
    const emulator = `#!/bin/sh
set -e
for each; do
  case "$each" in
    *,file=*/seed.iso) seed=\${each##*file=} ;;
    file:*) console=\${each#file:} ;;
  esac
done
set -- "$(dirname "$console")/view" '${directory}'
mkdir "$1" && exec unshare --mount sh -ec '
  seed=$0 console=$1 && shift && view=$1 && shift
  set -- "$view" "$1"
  xorriso -osirrox on -indev "$seed" -extract /user-data "$view.user-data" 2>/dev/null
  ${MAKE_VIEW.replaceAll('$0', '$view').replaceAll('"$1"', '"$2"')}
  # It must not switch this machine off.
  rm -f "$view/root/usr/sbin/poweroff" && printf "#!/bin/sh\\n" >"$view/root/usr/sbin/poweroff"
  chmod 755 "$view/root/usr/sbin/poweroff"
  sed -n "s/^  - { path: \\(.*\\), permissions: .*, content: \\(.*\\) }$/\\1 \\2/p" "$view.user-data" |
    while read -r path content; do
      echo "$content" | tr -d "\\047" | base64 -d >"$view/root$path" && chmod 755 "$view/root$path"
    done
  : >"$console" && mount --bind "$console" "$view/root/dev/console"
  chroot "$view/root" /run/build.sh
' "$seed" "$console" "$@"
`;
    mkdirSync(inside('bin'));
    for (const name of ['qemu-system-x86_64', 'qemu-system-aarch64']) {
      writeFileSync(inside('bin', name), emulator);
      chmodSync(inside('bin', name), 0o755);
    }
  }

  it('is in the image that the documented command builds', async () => {
    writeEmulator();
    execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', inside('base.qcow2'), '1G']);
    const command = documented('gpu-image.md', 'deploy/images/build-gpu-image.sh', {
      'deploy/images/': `${images}/`,
      'debian-12-generic-amd64.qcow2': inside('base.qcow2'),
      'debian-12-gpu.qcow2': inside('gpu.qcow2'),
      'nvidia.gpg': inside('key.gpg'),
      'https://mirror.example.com/nvidia/debian12/x86_64 /': 'file:/mirror/repository ./',
    });
    const PATH = `${inside('bin')}:${process.env['PATH']}`;
    const output = execFileSync('sh', ['-c', command], { env: { ...process.env, PATH } });
    expect(output.toString()).toMatch(/^[0-9a-f]{64} .*gpu\.qcow2\n$/);
    const { format } = JSON.parse(
      execFileSync('qemu-img', ['info', '--output=json', inside('gpu.qcow2')]).toString(),
    );
    expect(format).toBe('qcow2');
  });

  const signed = 'deb [signed-by=/mirror/key.gpg] file:/mirror/repository ./';

  it('is installed from the mirror alone, and the image has no identity', async () => {
    const { code, output } = await install('--repository', signed);
    expect(output).toMatch(/^ii {2}nvidia-open 1$/m);
    expect(output).toMatch(/^ii {2}nvidia-container-toolkit 1$/m);
    expect(output).toContain('machine-id: <>');
    expect({ code, output }).toMatchObject({ code: 0 });
  });

  it('is refused if a package is missing, or the repository is not signed', async () => {
    const missing = await install('--repository', signed, '--package', 'nvidia-of-another-name');
    expect(missing.output).toMatch(/nvidia-of-another-name/);
    expect(missing.code).not.toBe(0);
    const trusted = await install('--repository', 'deb [trusted=yes] file:/mirror/repository ./');
    expect(trusted.output).toContain('a repository must be signed');
    expect(trusted.code).not.toBe(0);
    writeFileSync(inside('repository/InRelease'), readFileSync(inside('repository/Release')));
    const unsigned = await install('--repository', signed);
    expect(unsigned.output).toMatch(/signed|clearsigned/i);
    expect(unsigned.code).not.toBe(0);
  });
});
