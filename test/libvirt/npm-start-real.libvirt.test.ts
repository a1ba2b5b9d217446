import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp } from 'node:fs/promises';
import path from 'node:path';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { afterAll, beforeAll, expect, test } from 'vitest';

const START = path.resolve(import.meta.dirname, '../../scripts/start.mjs');

let host: LibvirtHost;
let launcher: ChildProcess;
let output = '';

beforeAll(async () => {
  await buildTinyGuest({ directory: tinyGuestDirectory });
  host = await startLibvirtHost('start');
  // Like the home of a normal user: others may pass through it.
  await chmod(host.directory, 0o711);
  const home = path.join(host.directory, 'home');
  // The namespace cannot reach the servers of Debian.
  await cp(tinyGuestDirectory, path.join(home, 'tiny-guest'), { recursive: true });
  await chmod(home, 0o700);
  const { DATABASE_URL: _, ...inherited } = process.env as Record<string, string | undefined>;
  const [program, ...args] = host.command(process.execPath, START, '--real');
  launcher = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      ...{ GANTRY_HOME: home, GANTRY_FLEET_HOSTS: 'none', GANTRY_PORT: '0' },
      GANTRY_LIBVIRT_SOCKET: host.libvirtd.socketPath,
    },
  });
  for (const stream of [launcher.stdout, launcher.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
});
afterAll(async () => {
  if (launcher?.exitCode === null) launcher.kill('SIGKILL');
  // The remaining processes run in the namespace and end with it.
  await host?.stop();
});

/** Runs the printed line with this text in a shell on that host, unchanged. */
async function runPrinted(text: string, more = ''): Promise<string> {
  const line = output.split('\n').find((each) => each.startsWith('  ') && each.includes(text));
  if (line === undefined) throw new Error(`nothing printed has ${text}:\n${output}`);
  return await host.runIn('sh', '-c', `${line} ${more}`);
}

test('the printed commands create a real VM, open a shell in it, and power it off', async () => {
  const isUp = () => output.includes('ssh -i') || launcher.exitCode !== null;
  await expect.poll(isUp).toBe(true);
  expect(output).toContain('stand-ins');
  expect(output).toMatch(/VMs (run with KVM|are emulated, which is slow)\. KVM .*\n/);
  expect(await runPrinted('/vpc/firewall-rules')).toContain('IN_PROGRESS');
  expect(await runPrinted('"lab.1x"')).toContain('IN_PROGRESS');
  expect(await runPrinted('ssh -i', 'hostname')).toBe('real\n');

  launcher.kill('SIGINT');
  const [code] = await once(launcher, 'exit');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('A VM runs on');
  await runPrinted(' destroy gantry-');
  expect((await host.libvirtd.run('virsh', 'list', '--name')).trim()).toBe('');
});
