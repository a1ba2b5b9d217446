import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { documented, documentedLines } from '@gantry/testkit/docs/documented';
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
  installAgent,
  installControlPlane,
  installForVolumes,
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
  await install(machine, 'postgresql curl');
  await installControlPlane(machine);
  await installAgent(machine);
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

it('what operators look at on a host is there', async () => {
  // There is no KVM, so doctor finds failures. Findings are lines, or JSON for programs.
  const doctor = documented('install.md', 'gantry-agent doctor').trim();
  const findings = await machine.attempt(doctor);
  expect(findings).toMatchObject({ code: 2, output: expect.stringMatching(/^fail +/m) });
  // Each run boots an emulated VM, so the command that another page repeats is not run again.
  const [readable, forPrograms = ''] = documentedLines('gpu-hosts.md', 'gantry-agent doctor');
  expect(readable).toBe(doctor);
  expect(JSON.parse((await machine.attempt(forPrograms)).output)).toContainEqual(
    expect.objectContaining({ severity: 'fail' }),
  );
  const looked = [
    documented('alerts.md', 'systemctl status gantry-agent'),
    documented('alerts.md', 'curl -fsS localhost:7482/metrics'),
    documented('alerts.md', 'systemctl start gantry-agent'),
    documented('alerts.md', 'df -h /var/lib/gantry-data'),
    documented('alerts.md', 'grep -E '),
  ];
  for (const commands of looked) await machine.run(`set -e\n${commands}`);
});

it('what volumes of a storage cluster need can be installed', async () => {
  expect(await installForVolumes(machine)).toMatch(/^ok +storage network/m);
});

it('hugepages are reserved at the next boot', async () => {
  await machine.run(documented('install.md', 'systemctl enable dev-hugepages1G.mount'));
  await machine.run(documented('gpu-hosts.md', 'systemctl enable dev-hugepages1G.mount'));
  const enabled = await machine.run('systemctl is-enabled dev-hugepages1G.mount gantry-hugepages');
  expect(enabled).toBe('enabled\nenabled\n');
  await machine.run(documented('gpu-hosts.md', 'journalctl -b -u gantry-hugepages'));
});

it('a purge leaves no file of the packages', async () => {
  await machine.run(`apt-get purge -y ${PACKAGES}`);
  expect(await filesLeft(machine)).toEqual(OPERATORS_FILES);
});
