import { describe, expect, it } from 'vitest';
import { runCli } from './cli.ts';

async function run(args: string[], more: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const status = await runCli({
    args,
    // A folder without devices or sockets: the machine the test runs on does not matter.
    env: {
      GANTRY_SYSFS_ROOT: import.meta.dirname,
      GANTRY_LIBVIRT_SOCKET: '/nonexistent/sock',
      ...more,
    },
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

  it('tells of the environment what sysfs cannot know', async () => {
    const { out, err } = await run(['inventory'], {
      GANTRY_SHARED_STORAGE: '1',
      GANTRY_NVLINK_PAIRS: '0000:41:00.0-0000:42:00.0',
    });
    expect(JSON.parse(out)).toMatchObject({ sharedStorage: true, software: { agent: '0.1.0' } });
    expect(err).toContain('no GPU at 0000:41:00.0 and 0000:42:00.0');
  });

  it.each([{ GANTRY_NVLINK_PAIRS: '41:00.0-42:00.0' }, { GANTRY_SHARED_STORAGE: 'yes' }])(
    'answers %j with the name of the variable and status 2',
    async (env) => {
      const { status, out, err } = await run(['inventory'], env);
      expect(status).toBe(2);
      expect(out).toBe('');
      expect(err).toContain(Object.keys(env)[0]);
    },
  );

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
