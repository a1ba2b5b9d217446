import { waitUntil } from '@gantry/local/base/wait-until';
import { connect } from 'node-libvirt/connect';
import { domainLookupByName, qemuDomainAgentCommand } from 'node-libvirt/generated/procedures';

/**
 * Runs commands in a guest through its agent and libvirt, so that no packet passes a network and
 * firewall rules do not matter.
 */
export type GuestShell = {
  /** Returns the output of the command. Rejects with its error output if it fails. */
  run(command: string): Promise<string>;
  /** Starts a command in the background. */
  begin(command: string): Promise<void>;
  close(): Promise<void>;
};

/** An emulated guest is slow. */
const LIMIT_S = 60;
const BOOT_LIMIT_MS = 300_000;

type Status = { exited: boolean; exitcode?: number; 'out-data'?: string; 'err-data'?: string };

export async function openGuestShell(options: {
  socketPath: string;
  domain: string;
}): Promise<GuestShell> {
  const connection = await connect({ socketPath: options.socketPath });
  const { dom } = await connection.call(domainLookupByName, { name: options.domain });
  const ask = async <T>(execute: string, args: object): Promise<T> => {
    const cmd = JSON.stringify({ execute, arguments: args });
    const order = { dom, cmd, timeout: LIMIT_S, flags: 0 };
    const { result } = await connection.call(qemuDomainAgentCommand, order);
    return JSON.parse(result ?? '{}').return;
  };
  const start = (command: string, capture: boolean) =>
    ask<{ pid: number }>('guest-exec', {
      ...{ path: '/usr/bin/sh', arg: ['-c', command], env: ['PATH=/usr/bin:/usr/sbin'] },
      'capture-output': capture,
    });
  return {
    async run(command) {
      const { pid } = await start(command, true);
      for (;;) {
        const status = await ask<Status>('guest-exec-status', { pid });
        if (!status.exited) continue;
        if (status.exitcode === 0) return decode(status['out-data']);
        throw new Error(`${command}: ${status.exitcode} ${decode(status['err-data'])}`);
      }
    },
    async begin(command) {
      await start(command, false);
    },
    close: () => connection.close(),
  };
}

/** Opens a shell in the guest of a VM when it has booted. */
export async function enterGuest(
  { libvirtd }: { libvirtd: { socketPath: string } },
  vmId: string,
): Promise<GuestShell> {
  const { socketPath } = libvirtd;
  const guest = await openGuestShell({ socketPath, domain: `gantry-${vmId}` });
  const condition = async () => (await guest.run('echo up').catch(() => '')) || undefined;
  if (await waitUntil({ limitMs: BOOT_LIMIT_MS, condition })) return guest;
  await guest.close();
  throw new Error(`the guest of VM ${vmId} has not booted within ${BOOT_LIMIT_MS} ms`);
}

function decode(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString();
}
