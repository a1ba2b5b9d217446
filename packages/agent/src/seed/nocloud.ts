/**
 * What a guest reads when it boots, as the files of a volume labelled cidata. They are cloud-init's
 * NoCloud data source (user-data, meta-data, network-config), and the same data in files that a shell
 * can read, for guests without cloud-init:
 *
 *   gantry-address    one line per interface: MAC ADDRESS/PREFIX GATEWAY, with - for no gateway
 *   gantry-key        the public keys, one per line
 *   gantry-startup    the startup script as it is
 *   gantry-shutdown   the shutdown script as it is
 *
 * An empty file is left out. meta-data has one "name: value" per line, with quotes only around values
 * that YAML would not read as text.
 *
 * Tenants log in with their keys as the image's own user (debian, ubuntu) and as root: GPU work is
 * mostly done as root, and a key that opens sudo opens root anyway. Passwords never open SSH. The
 * root file system grows to its disk, which is cloud-init's default. The instance id is the VM's id, so
 * that cloud-init does not repeat its first-boot steps after a stop, a move or a new name.
 */
import type { VmSpec } from '../spec.ts';
import {
  RUNNER,
  RUNNER_TEXT,
  SCRIPT_FOLDER,
  SHUTDOWN_UNIT,
  SHUTDOWN_UNIT_FILE,
  SHUTDOWN_UNIT_TEXT,
} from './guest-scripts.ts';
import type { IsoFile } from './iso9660.ts';
import { type GuestNetworkSettings, renderNetworkConfig } from './network-config.ts';
import { sshKeysOf } from './seed-problem.ts';
import { renderPlainText, renderYaml } from './yaml.ts';

export const SEED_LABEL = 'cidata';

export function renderSeedFiles(vm: VmSpec, options: GuestNetworkSettings): IsoFile[] {
  const texts = {
    'meta-data': renderMetaData(vm),
    'user-data': renderUserData(vm),
    'network-config': renderNetworkConfig(vm.interfaces, options),
    'gantry-address': renderAddresses(vm),
    'gantry-key': sshKeysOf(vm)
      .map((key) => `${key}\n`)
      .join(''),
    'gantry-startup': vm.startupScript,
    'gantry-shutdown': vm.shutdownScript,
  };
  return Object.entries(texts)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => ({ name, content: Buffer.from(text) }));
}

export function renderMetaData(vm: VmSpec): string {
  const lines = { 'instance-id': vm.id, 'local-hostname': hostName(vm) };
  return Object.entries(lines)
    .map(([name, value]) => `${name}: ${renderPlainText(value)}\n`)
    .join('');
}

export function renderUserData(vm: VmSpec): string {
  const keys = sshKeysOf(vm);
  const config = {
    hostname: hostName(vm),
    // The guest resolves its own name, which sudo needs.
    manage_etc_hosts: 'localhost',
    disable_root: false,
    ssh_pwauth: false,
    ...(keys.length === 0 ? {} : { ssh_authorized_keys: keys }),
    // Otherwise an interface that was added or moved is not configured until the instance id
    // changes.
    updates: { network: { when: ['boot-new-instance', 'boot'] } },
    ...renderScripts(vm),
  };
  return `#cloud-config\n${renderYaml(config)}\n`;
}

/**
 * The unit is enabled first, so that a startup script that never ends does not prevent it from
 * stopping.
 */
function renderScripts({ startupScript, shutdownScript }: VmSpec) {
  if (startupScript === '' && shutdownScript === '') return {};
  const files = [file(RUNNER, RUNNER_TEXT, '0700')];
  const commands: string[][] = [];
  if (shutdownScript !== '') {
    files.push(file(`${SCRIPT_FOLDER}/shutdown-script`, shutdownScript, '0700'));
    files.push(file(SHUTDOWN_UNIT_FILE, SHUTDOWN_UNIT_TEXT, '0644'));
    commands.push(
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', SHUTDOWN_UNIT],
      // This may run before multi-user.target is reached; waiting for the unit would then never
      // end.
      ['systemctl', 'start', '--no-block', SHUTDOWN_UNIT],
    );
  }
  if (startupScript !== '') {
    files.push(file(`${SCRIPT_FOLDER}/startup-script`, startupScript, '0700'));
    // Last, because its status is the one that cloud-init reports.
    commands.push(['/bin/sh', RUNNER, 'startup']);
  }
  return { write_files: files, runcmd: commands };
}

function file(path: string, text: string, permissions: string) {
  const content = Buffer.from(text).toString('base64');
  return { path, permissions, owner: 'root:root', encoding: 'b64', content };
}

/** VM names may start and end with a hyphen; host names may not. */
export function hostName({ id, name }: VmSpec): string {
  return name.replaceAll(/^-+|-+$/g, '') || id;
}

function renderAddresses({ interfaces }: VmSpec): string {
  return interfaces
    .map(({ mac, privateIpv4, gatewayIpv4 }) => {
      return `${mac.toLowerCase()} ${privateIpv4} ${gatewayIpv4 || '-'}\n`;
    })
    .join('');
}
