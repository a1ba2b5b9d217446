/**
 * What a guest reads when it boots, as the files of a volume labelled cidata. They are cloud-init's
 * NoCloud data source (user-data, vendor-data, meta-data, network-config), and the same data in files
 * that a shell can read, for guests without cloud-init:
 *
 *   gantry-address    one line per interface: MAC ADDRESS/PREFIX GATEWAY, with - for no gateway
 *   gantry-key        the public keys, one per line
 *   gantry-startup    the startup script as it is
 *   gantry-shutdown   the shutdown script as it is
 *
 * A tenant's own user data is the user-data, and ours is then the vendor-data, over which cloud-init
 * prefers user-data setting by setting. The keys are in meta-data then, because a tenant's
 * `ssh_authorized_keys` and `users` add to those and do not replace them.
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
import { planScripts, renderInstaller, type ScriptPlan } from './guest-scripts.ts';
import type { IsoFile } from './iso9660.ts';
import { renderMultipart } from './multipart.ts';
import { type GuestNetworkSettings, renderNetworkConfig } from './network-config.ts';
import { sshKeysOf } from './seed-problem.ts';
import { renderPlainText, renderYaml } from './yaml.ts';

export const SEED_LABEL = 'cidata';

export function renderSeedFiles(vm: VmSpec, options: GuestNetworkSettings): IsoFile[] {
  const texts = {
    'meta-data': renderMetaData(vm),
    'user-data': vm.userData || renderUserData(vm),
    'vendor-data': vm.userData === '' ? '' : renderVendorData(vm),
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
  const keys = sshKeysOf(vm).map((key) => renderYaml(key));
  const lines = {
    'instance-id': renderPlainText(vm.id),
    'local-hostname': renderPlainText(hostName(vm)),
    ...(vm.userData === '' || keys.length === 0 ? {} : { 'public-keys': `[${keys.join(', ')}]` }),
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

export function renderUserData(vm: VmSpec): string {
  const { files, commands } = planScripts(vm);
  return renderCloudConfig({
    ...settingsOf(vm, sshKeysOf(vm)),
    ...(files.length === 0 ? {} : { write_files: files.map(toWriteFile), runcmd: commands }),
  });
}

/**
 * cloud-init does not join lists of vendor-data and user-data: a `runcmd` of the tenant would replace
 * ours. So the scripts are a script of their own here, and the keys are in meta-data.
 */
function renderVendorData(vm: VmSpec): string {
  const config = renderCloudConfig(settingsOf(vm, []));
  const plan = planScripts(vm);
  if (plan.files.length === 0) return config;
  return renderMultipart([
    { type: 'text/cloud-config', name: 'gantry-settings', text: config },
    { type: 'text/x-shellscript', name: 'gantry-scripts', text: renderInstaller(plan) },
  ]);
}

function renderCloudConfig(config: object): string {
  return `#cloud-config\n${renderYaml(config)}\n`;
}

function settingsOf(vm: VmSpec, keys: string[]) {
  return {
    hostname: hostName(vm),
    // The guest resolves its own name, which sudo needs.
    manage_etc_hosts: 'localhost',
    disable_root: false,
    ssh_pwauth: false,
    ...(keys.length === 0 ? {} : { ssh_authorized_keys: keys }),
    // Otherwise an interface that was added or moved is not configured until the instance id
    // changes.
    updates: { network: { when: ['boot-new-instance', 'boot'] } },
  };
}

function toWriteFile({ path, text, permissions }: ScriptPlan['files'][number]) {
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
