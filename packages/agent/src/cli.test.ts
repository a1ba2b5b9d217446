import { describe, expect, it } from 'vitest';
import { runCli } from './cli.ts';

async function run(args: string[]) {
  let out = '';
  let err = '';
  const status = await runCli({
    args,
    // A folder without devices or sockets: the machine the test runs on does not matter.
    env: { GANTRY_SYSFS_ROOT: import.meta.dirname, GANTRY_LIBVIRT_SOCKET: '/nonexistent/sock' },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { status, out, err };
}

describe('gantry-agent', () => {
  it('prints the inventory as JSON and nothing else on standard output', async () => {
    const { status, out, err } = await run(['inventory']);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ gpus: [], software: { libvirt: '' } });
    expect(err).toContain('no libvirt version');
  });

  it.each([[['frobnicate']], [[]], [['inventory', 'extra']]])(
    'answers %j with its usage and status 2',
    async (args) => {
      const { status, out, err } = await run(args);
      expect(status).toBe(2);
      expect(out).toBe('');
      expect(err).toMatch(/^usage: gantry-agent/);
    },
  );
});
