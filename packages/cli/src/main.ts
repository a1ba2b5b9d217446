import { runCommandLine } from './run-command-line.ts';

const { stdin, stdout, stderr, env } = process;
// A reader that has seen enough, such as `head`, closes the pipe. That is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
process.exitCode = await runCommandLine(process.argv.slice(2), {
  process: { stdin, stdout, stderr, env },
});
