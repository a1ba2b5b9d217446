import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startCeph } from './start-ceph.ts';

it('a cluster ends and removes its files, also if its test is killed', async () => {
  const program = fileURLToPath(new URL('./doomed-ceph.ts', import.meta.url));
  const tsx = fileURLToPath(new URL('../../../../node_modules/.bin/tsx', import.meta.url));
  const doomed = spawn(tsx, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(doomed.stdout, 'data');
  const left = JSON.parse(String(said)) as { pid: number; directory: string; daemons: number[] };
  expect(left.daemons.filter(isRunning)).toHaveLength(2);
  process.kill(left.pid, 'SIGKILL');
  await expect.poll(() => left.daemons.filter(isRunning)).toEqual([]);
  await expect.poll(() => existsSync(left.directory)).toBe(false);
});

it('an OSD that was killed has its data after it is started again', async () => {
  const ceph = await startCeph();
  try {
    await ceph.run('rbd', 'create', '--size', '8M', 'volumes/v');
    const [osd] = ceph.osds;
    await osd?.kill();
    osd?.start();
    expect(await ceph.run('rbd', 'ls', 'volumes')).toBe('v\n');
  } finally {
    await ceph.stop();
  }
  expect(existsSync(ceph.directory)).toBe(false);
});

/** A process that has ended may still be listed, until its parent has noticed. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
