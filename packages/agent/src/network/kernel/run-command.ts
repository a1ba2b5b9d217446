import { ExecError, exec } from '@gantry/daemon/exec';
import { HostFailure } from '../../base/failure.ts';

/** Runs a program without a shell, with `input` as its standard input, and returns its output. */
export type RunCommand = (
  program: string,
  args: readonly string[],
  input?: string,
) => Promise<string>;

/** The code of a program that ran and exited with an error. */
export const COMMAND_FAILED = 'network_command_failed';
/** The kernel replies in milliseconds; after ten seconds another program holds a lock. */
const TIMEOUT_MS = 10_000;

export const runCommand: RunCommand = async (program, args, input = '') => {
  try {
    return (await exec(program, args, { timeoutMs: TIMEOUT_MS, input })).toString();
  } catch (error) {
    throw error instanceof ExecError ? asFailure([program, ...args].join(' '), error) : error;
  }
};

function asFailure(command: string, error: ExecError): HostFailure {
  if (error.reason === 'not installed') {
    const message = `${command.split(' ')[0]} is not installed: install iproute2, nftables and procps`;
    return new HostFailure('network_tool_missing', message, { cause: error });
  }
  if (error.reason === 'timeout') {
    const message = `"${command}" did not end within ${TIMEOUT_MS / 1000} s`;
    return new HostFailure('network_command_timeout', message, { cause: error });
  }
  const reason = error.stderr.slice(0, 500) || error.message;
  return new HostFailure(COMMAND_FAILED, `"${command}": ${reason}`, { cause: error });
}

/** Runs everything in a network namespace, so that several hosts can share one machine. */
export function inNamespace(run: RunCommand, netns: string): RunCommand {
  return (program, args, input) => run('ip', ['netns', 'exec', netns, program, ...args], input);
}
