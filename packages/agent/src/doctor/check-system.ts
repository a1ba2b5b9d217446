import { fail, ok, warn } from '../base/finding.ts';
import type { Check } from './doctor-host.ts';

export const checkRoot: Check = async ({ userId }) => [
  userId === 0
    ? ok('user', 'root')
    : fail('user', `not root (${userId})`, 'run this, and the agent, as root'),
];

/** "none [integrity] confidentiality": the mode in brackets is in force. */
export const checkLockdown: Check = async ({ sysfs }) => {
  const text = await sysfs.text('kernel/security/lockdown');
  if (text === undefined) return [];
  const mode = /\[(\w+)\]/.exec(text)?.[1] ?? 'unknown';
  if (mode === 'none') return [ok('kernel lockdown', 'off')];
  return [
    warn(
      'kernel lockdown',
      `${mode}: programs may not write to PCI config space, so a card without a reset of its own cannot be reset`,
      'turn off Secure Boot, or use cards that have flr among their reset methods',
    ),
  ];
};

export const checkAppArmor: Check = async ({ sysfs }) => {
  const enabled = await sysfs.text('module/apparmor/parameters/enabled');
  if (enabled !== 'Y') return [];
  return [ok('AppArmor', 'on: libvirt keeps each VM to its own files and devices')];
};

export const checkSwap: Check = async ({ files }) => {
  const [, ...swaps] = ((await files.text('proc/swaps')) ?? '').split('\n');
  if (swaps.length === 0) return [ok('swap', 'off')];
  const names = swaps.map((line) => line.split(/\s/)[0]).join(', ');
  return [
    warn(
      'swap',
      `on ${names}: memory of guests may be written there`,
      'swapoff -a, and remove it from /etc/fstab',
    ),
  ];
};

/**
 * Reads the kernel's state, whichever program synchronises the clock. Without it there is no
 * finding.
 */
export const checkClock: Check = async ({ run }) => {
  const output = await run('timedatectl', ['show', '-p', 'NTPSynchronized', '--value']).catch(
    () => '',
  );
  if (output.trim() === 'yes') return [ok('clock', 'synchronised')];
  if (output.trim() !== 'no') return [];
  return [
    warn(
      'clock',
      'not synchronised: certificates and receipts carry times',
      'install chrony, or turn on systemd-timesyncd',
    ),
  ];
};
