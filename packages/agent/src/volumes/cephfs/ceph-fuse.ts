import { existsSync } from 'node:fs';
import type { Share } from './share.ts';

/**
 * Renders the settings of ceph-fuse, with the key. It ends after 5 s if no monitor or metadata server replies to the
 * mount. Later requests have no limit: a guest that writes during an outage waits, and continues after it without an error.
 */
export function renderConf({ monitors, fileSystem, path, key }: Share): string {
  const settings = {
    mon_host: monitors.map((each) => `v2:${each}`).join(','),
    key,
    keyring: '/dev/null',
    client_fs: fileSystem,
    client_mountpoint: path,
    client_mount_timeout: 5,
    // Nothing is left on the host, and several agents may run on it.
    admin_socket: '',
    log_file: '/dev/null',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `[global]\n${lines.join('\n')}\n`;
}

const SYSTEMD = '/run/systemd/system';

/**
 * Returns a command that runs another one so that it outlives the agent. systemd ends the processes of a service together
 * with it, so ceph-fuse gets a scope of its own, as each VM has one. Without systemd nothing ends it.
 */
export function startedApart(
  command: readonly string[],
  {
    unit,
    hasSystemd = existsSync(SYSTEMD),
    netns,
  }: { unit: string; hasSystemd?: boolean | undefined; netns?: string | undefined },
): string[] {
  // `ip netns exec` would mount in a mount namespace of its own, where no other program sees the share.
  const inNetwork = netns === undefined ? [] : ['nsenter', `--net=/run/netns/${netns}`];
  const inScope = hasSystemd ? ['systemd-run', '--scope', '--quiet', '--collect'] : [];
  const named = hasSystemd ? [`--unit=${unit}`, '--'] : [];
  return [...inScope, ...named, ...inNetwork, ...command];
}
