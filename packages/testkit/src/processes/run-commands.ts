import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bundle, type Command, type Environment, inherited } from './start-processes.ts';

/** Runs one command of the agent to its end. */
export function runAgentCommand(args: string[], env: Environment, command?: Command) {
  return runToEnd(bundle('agent', 'main'), { args, env, command });
}

/** Runs the command that makes, verifies and restores backups. */
export function runBackupCommand(args: string[], env: Environment) {
  return runToEnd(bundle('scheduler', 'backup'), { args, env });
}

/** Runs the command for operators that have restored a backup. */
export function runRestoreCommand(args: string[], env: { DATABASE_URL: string }) {
  return runToEnd(bundle('scheduler', 'restore'), { args, env });
}

/** Runs the command for operators that replace the fleet's authority. */
export function runRotateAuthorityCommand(args: string[], env: Environment) {
  return runToEnd(bundle('scheduler', 'rotate-authority'), { args, env });
}

type Run = { args: string[]; env: Environment; command?: Command | undefined };

async function runToEnd(script: string, { args, env, command = (...all) => all }: Run) {
  try {
    const options = { env: { ...inherited(), ...env } };
    const [program, ...rest] = command(process.execPath, script, ...args);
    const { stdout } = await promisify(execFile)(program, rest, options);
    return { code: 0, stdout, stderr: '' };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}
