import { execFile } from 'node:child_process';
import { MachineFailure } from '../../host-driver.ts';

/** Runs a program without a shell, with `input` on its standard input, and answers what it printed. */
export type RunCommand = (
  program: string,
  args: readonly string[],
  input?: string,
) => Promise<string>;

/** The code of a program that ran and said no. */
export const COMMAND_FAILED = 'network_command_failed';
/** The kernel answers in milliseconds; ten seconds are a lock that somebody else holds. */
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1_048_576;

export const runCommand: RunCommand = (program, args, input = '') =>
  new Promise((resolve, reject) => {
    const options = {
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
    } as const;
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error) reject(asFailure({ program, args, error, stderr }));
      else resolve(stdout);
    });
    // A program that ends before it has read everything says why by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });

type Ended = {
  program: string;
  args: readonly string[];
  error: Error & { code?: unknown; killed?: boolean };
  stderr: string;
};

function asFailure({ program, args, error, stderr }: Ended): MachineFailure {
  const command = [program, ...args].join(' ');
  if (error.code === 'ENOENT') {
    const message = `${program} is not installed: install iproute2, nftables and procps`;
    return new MachineFailure('network_tool_missing', message, { cause: error });
  }
  if (error.killed) {
    const message = `"${command}" did not end within ${TIMEOUT_MS / 1000} s`;
    return new MachineFailure('network_command_timeout', message, { cause: error });
  }
  const said = stderr.trim().slice(0, 500) || error.message;
  return new MachineFailure(COMMAND_FAILED, `"${command}": ${said}`, { cause: error });
}

/** Everything in a named network namespace, so that several hosts can live on one machine. */
export function inNamespace(run: RunCommand, netns: string): RunCommand {
  return (program, args, input) => run('ip', ['netns', 'exec', netns, program, ...args], input);
}
