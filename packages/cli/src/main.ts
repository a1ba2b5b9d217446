import { runCommandLine } from './run-command-line.ts';

const { stdout, stderr, env } = process;
// A reader that has seen enough, such as `head`, closes the pipe. That is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
process.exitCode = await runCommandLine(process.argv.slice(2), {
  process: {
    ...{ stdout, stderr, env },
    // Only a command that reads its input opens it: that takes milliseconds.
    get stdin() {
      return process.stdin;
    },
  },
});
