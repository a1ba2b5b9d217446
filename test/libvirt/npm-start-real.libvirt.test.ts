import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { gantryIn } from '@gantry/testkit/real-host/guest/run-gantry';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const START = path.join(root, 'scripts/start.mjs');
const TSX = path.join(root, 'node_modules/.bin/tsx');
const PROVISION = path.join(root, 'packages/sdk/examples/provision.ts');
const SDK_PAGE = readFileSync(path.join(root, 'docs/tenants/sdk.md'), 'utf8');

/** Emulated VMs test the host before it is offered, which takes minutes on a busy machine. */
const START_LIMIT_MS = 800_000;

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

/**
 * Deletes the printed VM, lets the example of the SDK create and destroy its resources, and creates the same VM again with the CLI,
 * so that all of them share the one guest that boots: this machine has room for one.
 */
async function recreateByCli(): Promise<void> {
  const home = path.join(host.directory, 'home');
  const connection = JSON.parse(await readFile(path.join(home, 'connection.json'), 'utf8'));
  const [, printed = '{}'] = /-d '(\{"name":"real".*?\})'/.exec(output) ?? [];
  const { type, location, image, ssh_public_key } = JSON.parse(printed);
  const gantry = await gantryIn({
    ...{ folder: host.directory, run: host.runIn, url: connection.base_url },
    accessKey: connection.access_key,
  });
  const state = async () => JSON.parse(await gantry('vm', 'show', 'real', '-o', 'json')).state;
  await expect.poll(state).toBe('STATE_RUNNING');
  await gantry('vm', 'delete', 'real', '--yes', '--wait');
  const env = {
    ...{ GANTRY_URL: connection.base_url, GANTRY_ACCESS_KEY: connection.access_key },
    ...{ LOCATION: location, VM_TYPE: type, IMAGE: image, SSH_PUBLIC_KEY: ssh_public_key },
  };
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const provisioned = await host.runIn('env', ...set, TSX, PROVISION);
  const [, expected] = /## Infrastructure as code.*?```\n(.*?)```/s.exec(SDK_PAGE) ?? [];
  expect(provisioned).toBe(expected);

  const [, identity = ''] = /ssh -i '([^']+)'/.exec(output) ?? [];
  await writeFile(`${identity}.pub`, ssh_public_key);
  const flags = { type, location, image, 'ssh-key': `${identity}.pub` };
  const given = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  await gantry('vm', 'create', 'real', ...given, '--wait');
  // The CLI finds the address, and the key with which it has created the VM.
  expect(await gantry('vm', 'ssh', 'real', '--', 'hostname')).toBe('real\n');
}

test('the printed commands create a real VM, open a shell in it, and power it off', {
  timeout: 1_800_000,
}, async () => {
  const printed = () => (launcher.exitCode === null ? output : `${output}\nended`);
  await expect.poll(printed, { timeout: START_LIMIT_MS }).toMatch(/ssh -i|ended$/);
  expect(output).toContain('stand-ins');
  expect(output).toMatch(/VMs (run with KVM|are emulated, which is slow)\. KVM .*\n/);
  expect(await runPrinted('/vpc/firewall-rules')).toContain('IN_PROGRESS');
  expect(await runPrinted('"lab.1x"')).toContain('IN_PROGRESS');
  await recreateByCli();
  expect(await runPrinted('ssh -i', 'hostname')).toBe('real\n');

  launcher.kill('SIGINT');
  const [code] = await once(launcher, 'exit');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('A VM runs on');
  await runPrinted(' destroy gantry-');
  expect((await host.libvirtd.run('virsh', 'list', '--name')).trim()).toBe('');
});
