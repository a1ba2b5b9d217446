import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { execute } from '../execute.ts';
import { makeFileSystem } from './quota-file-system.ts';

const mounts = () => readFile('/proc/self/mountinfo', 'utf8');
const loops = () => execute('losetup', '--noheadings', '--output', 'BACK-FILE');

describe('a file system of a test', () => {
  test('leaves no mount, loop device or file', async () => {
    const { mountPoint, remove } = await makeFileSystem('short', { sizeMib: 16 });
    expect(await mounts()).toContain(` ${mountPoint} `);
    await remove();
    expect(await mounts()).not.toContain(` ${mountPoint} `);
    await expect.poll(loops).not.toContain(path.dirname(mountPoint));
    expect(existsSync(path.dirname(mountPoint))).toBe(false);
  });

  test('that was killed is removed by the next one', async () => {
    const program = fileURLToPath(new URL('./doomed-file-system.ts', import.meta.url));
    const tsx = fileURLToPath(new URL('../../../../../node_modules/.bin/tsx', import.meta.url));
    const doomed = spawn(tsx, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await once(doomed.stdout, 'data');
    const left = JSON.parse(String(said)) as { pid: number; mountPoint: string };
    process.kill(left.pid, 'SIGKILL');
    await expect.poll(() => existsSync(`/proc/${left.pid}`)).toBe(false);
    expect(await mounts()).toContain(` ${left.mountPoint} `);

    const next = await makeFileSystem('next', { sizeMib: 16 });
    try {
      expect(await mounts()).not.toContain(` ${left.mountPoint} `);
      await expect.poll(loops).not.toContain(path.dirname(left.mountPoint));
      expect(existsSync(path.dirname(left.mountPoint))).toBe(false);
    } finally {
      await next.remove();
    }
  });
});
