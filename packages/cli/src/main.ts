import { run } from '@stricli/core';
import { application } from './application.ts';
import { exitCodeOfRun } from './exit-codes.ts';

const { stdin, stdout, stderr, env } = process;
// A reader that has seen enough, such as `head`, closes the pipe. That is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
const own = { stdin, stdout, stderr, env, exitCode: null as number | string | null };
await run(application, process.argv.slice(2), { process: own });
process.exitCode = exitCodeOfRun(own.exitCode);
