import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { execute } from '../real-host/execute.ts';

const PATIENCE = { timeout: 240_000, interval: 200 };
const LAST_LINE = /:move"\n\n$/;

it('npm start -- --real --storage ceph prints lines that move a VM, and removes everything on Ctrl-C', async () => {
  const script = fileURLToPath(new URL('../../../../scripts/launcher.mjs', import.meta.url));
  const { programFor } = await import(script);
  const program = spawn(process.execPath, programFor(['--real', '--storage', 'ceph']), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  let said = '';
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  const ended = once(program, 'exit');
  try {
    await expect.poll(() => said + (program.exitCode ?? ''), PATIENCE).toMatch(LAST_LINE);
    const lines = said.split('\n').filter((line) => /^ {2}(export|gantry|echo|curl) ?/.test(line));
    expect(lines.length).toBeGreaterThan(8);
    const output = await execute('bash', '-euc', lines.join('\n'));
    const hosts = output.split('\n').filter((line) => /^(left|right) /.test(line));
    const counts = hosts
      .map((line) => line.split(/ {2,}/))
      .map(([name, , , , , vms]) => [name, vms]);
    const [before, after] = [counts.slice(0, 2), counts.slice(2)];
    const holder = (of: typeof counts) => of.filter(([, vms]) => vms === '1').map(([name]) => name);
    expect(holder(before)).toHaveLength(1);
    expect(holder(after)).toEqual(['left', 'right'].filter((name) => name !== holder(before)[0]));
    expect(output).toContain('"operation_name":"MOVE"');
  } finally {
    program.kill('SIGINT');
    await ended;
  }
  expect(said).toContain('Stopping, and removing everything');
  expect(program.exitCode).toBe(0);
  const left = ['/run/netns', '/tmp'].filter(existsSync).flatMap((each) => readdirSync(each));
  expect(left.filter((name) => name.startsWith(`gantry-${program.pid}-`))).toEqual([]);
  const [, directory = ''] = /XDG_CONFIG_HOME='(.+)'/.exec(said) ?? [];
  expect(existsSync(directory)).toBe(false);
});
