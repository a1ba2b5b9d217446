import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import type { Client } from '@gantry/testkit/processes/client';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bootMachine, type Machine } from './boot-machine.ts';
import { makeRepository, type Repository } from './build-repository.ts';
import { prepareRoot, type Release } from './clean-root.ts';
import { prepareMachine, prepareSite } from './control-plane-site.ts';
import { filesLeft, OPERATORS_FILES } from './files-left.ts';
import {
  addRepository,
  installControlPlane,
  joinByLine,
  LOCATION,
  offerImage,
  readHost,
  setUpControlPlane,
  upgrade,
  VM_TYPE,
} from './installed-cloud.ts';
import { recordSteps } from './record-steps.ts';
import { startWriting } from './write-load.ts';

const OLD = '0.1.0';
const NEW = '0.1.1';
const PACKAGES = 'gantry-agent gantry-control-plane gantry gantry-node';
const UNITS = 'gantry-api gantry-scheduler gantry-agent';

/** The life of an installation: packages, repository, control plane, host, VM, upgrade, removal. */
export function describeLife(release: Release): void {
  describe(`an installation on Debian ${release}`, () => {
    let repository: Repository;
    let machine: Machine;
    let client: Client;
    let scratch: string;
    let built: string[];
    let guest: { path: string; sha256: string };
    // biome-ignore lint/suspicious/noExplicitAny: the tests look into replies freely
    let vm: any;

    beforeAll(async () => {
      scratch = await mkdtemp(path.join(tmpdir(), 'gantry-install-'));
      const sysfs = await writeStandIns(scratch);
      repository = await makeRepository();
      guest = await buildTinyGuest({ directory: tinyGuestDirectory });
      built = await repository.build(OLD);
      await repository.publish(built);
      machine = await bootMachine(await prepareRoot(release), {
        '/srv/repository': repository.folder,
        '/srv/sys': sysfs,
        '/srv/tiny.raw': guest.path,
      });
    });
    afterAll(async () => {
      await machine?.stop();
      await repository?.remove();
      await rm(scratch, { recursive: true, force: true });
    });

    afterEach(async ({ task }) => {
      if (task.result?.state !== 'fail' || !machine) return;
      // The api is left out, because it logs every request of the test that waits.
      const { output } = await machine.attempt(
        'journalctl -n 80 -o cat --no-pager -u gantry-agent -u gantry-scheduler -u libvirtd',
      );
      process.stderr.write(`${output}\n`);
    });

    recordSteps(`Debian ${release}`, () => built);

    const pidOfVm = () => machine.run('cat /run/libvirt/qemu/gantry-*.pid');

    it('comes from a signed repository, and its units wait for their secrets', async () => {
      await prepareMachine(machine);
      await prepareSite(machine);
      await addRepository(machine);
      await installControlPlane(machine);
      const states = await machine.attempt('systemctl is-active gantry-api gantry-scheduler');
      expect(states.output.trim().split('\n')).toEqual(['inactive', 'inactive']);
      expect(await machine.run('systemctl list-units --failed --no-legend "gantry-*"')).toBe('');
      expect(await machine.run('gantry --version')).toBe('0.1.0\n');
    });

    it('has an api, a console and a scheduler as soon as it has secrets', async () => {
      client = await setUpControlPlane(machine);
      const page = await machine.run(
        `/usr/lib/gantry/node -e 'fetch("http://127.0.0.1:8080/").then(async (r) => console.log(await r.text()))'`,
      );
      expect(page).toContain('<title>Gantry');
      const environment = await machine.run(
        'tr "\\0" "\\n" </proc/$(systemctl show -p MainPID --value gantry-api)/environ',
      );
      expect(environment).not.toMatch(/DATABASE_URL|SECRET_KEY/);
    });

    it('has a host that is ready when the pasted line has ended', async () => {
      await offerImage(client, guest.sha256);
      await joinByLine(machine, client);
      expect(await machine.run('gantry-agent --help')).toMatch(/^usage: gantry-agent/);
      await expect
        .poll(() => readHost(client))
        .toMatchObject({ state: 'ready', agent_version: OLD });
    });

    it('runs a VM, which can be stopped and started', async () => {
      const offers = async () => (await client.call('GET', '/availabilities')).body.items;
      await expect
        .poll(offers)
        .toContainEqual(expect.objectContaining({ type: VM_TYPE, available: true }));
      const operation = await client.ended(
        await client.createVm({ name: 'first', type: VM_TYPE, location: LOCATION, image: 'tiny' }),
      );
      expect(operation).toMatchObject({ state: 'SUCCEEDED' });
      vm = operation.result;
      const first = Number(await pidOfVm());
      expect(first).toBeGreaterThan(0);
      for (const action of ['STOP', 'START']) {
        const changed = await client.open('PATCH', `/vms/${vm.id}`, { action });
        expect(await client.ended(changed)).toMatchObject({ state: 'SUCCEEDED' });
      }
      expect(Number(await pidOfVm())).not.toBe(first);
    });

    it('is upgraded under load: the VM runs on, and no accepted request is lost', async () => {
      const before = await pidOfVm();
      await repository.publish(await repository.build(NEW));
      const load = startWriting(client);
      await expect.poll(() => load.accepted.length).toBeGreaterThan(3);
      await upgrade(machine);
      const during = load.accepted.length;
      await expect.poll(() => load.accepted.length).toBeGreaterThan(during + 3);
      const { accepted } = await load.stop();
      const { body } = await client.call('GET', '/disks');
      const names = body.items.map(({ name }: { name: string }) => name);
      expect(names).toEqual(expect.arrayContaining(accepted));
      await expect
        .poll(() => readHost(client))
        .toMatchObject({ state: 'ready', agent_version: NEW });
      expect(await pidOfVm()).toBe(before);
    });

    it('keeps its agent as long as VMs run', async () => {
      const refused = await machine.attempt('apt-get remove -y gantry-agent');
      expect(refused.code).not.toBe(0);
      expect(refused.output).toContain('gantry-agent is not removed, because VMs run on this host');
      expect(await machine.run('systemctl is-active gantry-agent')).toBe('active\n');
    });

    it('has no unit that failed or restarted without being asked', async () => {
      const restarts = await machine.run(`systemctl show -p NRestarts --value ${UNITS}`);
      expect(restarts.split('\n').filter(Boolean)).toEqual(['0', '0', '0']);
    });

    it('is removed with its settings kept, and purged without leaving a file', async () => {
      const deleted = await client.ended(await client.open('DELETE', `/vms/${vm.id}`));
      expect(deleted).toMatchObject({ state: 'SUCCEEDED' });
      await machine.run(`apt-get remove -y ${PACKAGES}`);
      const states = await machine.attempt(`systemctl is-active ${UNITS}`);
      expect(states.output.trim().split('\n')).toEqual(['inactive', 'inactive', 'inactive']);
      await machine.run('test -s /var/lib/gantry/certificate.pem');
      await machine.run('test -s /etc/gantry/credentials/DATABASE_URL');
      await machine.run(`apt-get purge -y ${PACKAGES}`);
      expect(await filesLeft(machine)).toEqual(OPERATORS_FILES);
    });
  });
}
