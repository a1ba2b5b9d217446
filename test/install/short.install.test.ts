import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from '@gantry/testkit/processes/client';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bootMachine, type Machine } from './support/boot-machine.ts';
import { makeRepository, type Repository } from './support/build-repository.ts';
import { prepareRoot } from './support/clean-root.ts';
import { install, prepareMachine } from './support/control-plane-site.ts';
import { filesLeft, OPERATORS_FILES } from './support/files-left.ts';
import {
  addFolder,
  joinByCommands,
  readHost,
  setUpControlPlane,
} from './support/installed-cloud.ts';
import { recordSteps } from './support/record-steps.ts';

/** The shortest useful life of an installation. `npm run test:install` has the whole one, with VMs and upgrades. */
const PACKAGES = 'gantry-agent gantry-control-plane gantry gantry-node';
let repository: Repository;
let machine: Machine;
let client: Client;
let scratch: string;
let built: string[];

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'gantry-install-'));
  const sysfs = await writeStandIns(scratch);
  repository = await makeRepository();
  // The root is mostly downloaded, and the packages are mostly compressed.
  const [root] = await Promise.all([prepareRoot('bookworm'), build()]);
  machine = await bootMachine(root, {
    '/srv/repository': repository.folder,
    '/srv/sys': sysfs,
  });
});
afterAll(async () => {
  await machine?.stop();
  await repository?.remove();
  await rm(scratch, { recursive: true, force: true });
});

recordSteps('short installation on Debian bookworm', () => built);

async function build(): Promise<void> {
  built = await repository.build('0.1.0');
  await repository.publish(built);
}

it('packages of this checkout are installed by apt on a clean Debian', async () => {
  await prepareMachine(machine);
  await addFolder(machine);
  await install(machine, `postgresql curl ${PACKAGES}`);
  expect(await machine.run('gantry --version')).toBe('0.1.0\n');
});

it('the control plane starts when it has its secrets', async () => {
  client = await setUpControlPlane(machine);
  const states = await machine.run('systemctl is-active gantry-api gantry-scheduler');
  expect(states).toBe('active\nactive\n');
});

it('the machine joins and is shown as a host that is ready', async () => {
  await joinByCommands(machine, client);
  await expect.poll(() => readHost(client)).toMatchObject({ state: 'ready' });
  expect(await machine.run('systemctl is-active gantry-agent')).toBe('active\n');
});

it('a purge leaves no file of the packages', async () => {
  await machine.run(`apt-get purge -y ${PACKAGES}`);
  expect(await filesLeft(machine)).toEqual(OPERATORS_FILES);
});
