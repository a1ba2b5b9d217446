import { expect, it } from 'vitest';
import { ExecError, exec } from './exec.ts';

const failureOf = async (...args: Parameters<typeof exec>): Promise<ExecError> => {
  const error = await exec(...args).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ExecError) return error;
  throw new Error('the program did not fail', { cause: error });
};

it('a program gets its input, its environment and the C locale, and its output is returned', async () => {
  const script = 'read line; echo "$line $NAME $LC_ALL"';
  const output = await exec('sh', ['-c', script], { input: 'hello\n', env: { NAME: 'gantry' } });
  expect(output.toString()).toBe('hello gantry C\n');
});

it('an exit code other than 0 is an error that carries the output', async () => {
  const failure = await failureOf('sh', ['-c', 'echo out; echo err >&2; exit 3']);
  expect(failure).toMatchObject({ reason: 'failed', stdout: 'out', stderr: 'err' });
});

it('a program that is not installed is an error with that reason', async () => {
  expect(await failureOf('gantry-no-such-program', [])).toMatchObject({ reason: 'not installed' });
});

it('a program that exceeds its time limit is killed', async () => {
  const failure = await failureOf('sleep', ['600'], { timeoutMs: 50 });
  expect(failure).toMatchObject({ reason: 'timeout' });
});

it('a program that does not read its input does not fail because of that', async () => {
  expect(await exec('true', [], { input: 'x'.repeat(2 ** 20) })).toHaveLength(0);
});
