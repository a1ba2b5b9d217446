import { once } from 'node:events';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connectToProject } from '../../config/connect.ts';
import { vmKey } from '../../config/vm-keys.ts';
import { vmNames } from '../complete-names.ts';
import { argument, type ContextFlag, contextFlag, optionalText } from '../flags.ts';
import { findVm, stateText, type Vm } from './vm.ts';

type SshFlags = ContextFlag & { user: string | undefined; identity: string | undefined };

export const sshVm = buildCommand<SshFlags, string[], CliContext>({
  docs: {
    brief: 'Log in to a VM over SSH, or run a command there',
    fullDescription:
      'Uses the address of the VM, the user root, and the key that the VM was created with on this ' +
      'computer, or else the keys that ssh finds itself. Write a command after --.',
    customUsage: ['VM', 'VM -- nvidia-smi -L'],
  },
  parameters: {
    flags: {
      ...contextFlag,
      user: optionalText('The user in the guest (default: root)', 'user'),
      identity: optionalText('A file with your private SSH key', 'file'),
    },
    aliases: { i: 'identity' },
    positional: {
      ...({ kind: 'array', minimum: 1 } as const),
      parameter: argument('The name or the id of the VM, then a command', 'vm [command]', vmNames),
    },
  },
  async func(flags, wanted = '', ...command) {
    const vm = await findVm(await connectToProject(this, flags), wanted);
    if (vm.state !== 'STATE_RUNNING')
      throw new UsageError(
        `the VM ${vm.name} is ${stateText(vm)}. Try: gantry vm start ${vm.name}`,
      );
    if (vm.ssh_destination === '') throw new UsageError(`the VM ${vm.name} has no address`);
    const key = flags.identity ?? (await vmKey(this.process.env, vm.id));
    const args = sshArguments(vm, { user: flags.user ?? 'root', key, command });
    this.process.exitCode = await runSsh(args, this.process.env);
  },
});

/**
 * A VM that has just started boots for a while before it listens. ssh waits a second between attempts. It does not
 * try again if the guest accepts the connection and then takes longer than this to greet.
 */
const ATTEMPTS = 60;
const CONNECT_S = 60;

type Login = { user: string; key: string | undefined; command: readonly string[] };

/**
 * Addresses are used again by other VMs, so the key of the host is remembered by the id of the VM:
 * otherwise ssh would warn of an attack after every new VM with an old address.
 */
function sshArguments(vm: Vm, { user, key, command }: Login): string[] {
  return [
    ...['-o', `HostKeyAlias=gantry-${vm.id}`, '-o', 'StrictHostKeyChecking=accept-new'],
    ...['-o', `ConnectionAttempts=${ATTEMPTS}`, '-o', `ConnectTimeout=${CONNECT_S}`],
    ...(key === undefined ? [] : ['-i', key]),
    ...['-l', user, '--', vm.ssh_destination, ...command],
  ];
}

async function runSsh(args: string[], env: CliContext['process']['env']): Promise<number> {
  const { spawn } = await import('node:child_process');
  // The terminal sends Ctrl-C to both processes, and it is meant for the guest.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    const child = spawn('ssh', args, { stdio: 'inherit', env: { ...env } });
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? SSH_FAILED;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError('there is no program ssh on this computer');
  } finally {
    process.off('SIGINT', ignore);
  }
}

/** What ssh itself returns if it fails. */
const SSH_FAILED = 255;
