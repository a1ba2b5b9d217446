import { readFile } from 'node:fs/promises';
import { offerType, serialLog, succeeded } from '@gantry/testkit/lab/cloud/lab-vms';
import {
  HOST,
  type LabCloud,
  LOCATION,
  startLabCloud,
} from '@gantry/testkit/lab/cloud/start-lab-cloud';
import { guestLook } from '@gantry/testkit/lab/image/guest-look';
import type { Operation } from '@gantry/testkit/processes/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const BOCHS = '1234:1111';
const VIRTIO = '1af4:1050';

describe('an emulated GPU server', () => {
  let cloud: LabCloud;

  beforeAll(async () => {
    cloud = await startLabCloud();
  });
  afterAll(() => cloud?.stop());

  const show = async () => {
    const { body } = await cloud.client.admin('GET', '/hosts');
    return body.items.find(({ name }: { name: string }) => name === HOST);
  };

  it('has KVM, an IOMMU and a libvirt that replies', async () => {
    const { lab } = cloud;
    expect(await lab.run('test -c /dev/kvm')).toMatchObject({ status: 0 });
    expect(await lab.ask('virsh -c qemu:///system version')).toContain('QEMU');
    const group = `readlink /sys/bus/pci/devices/${lab.addresses('drive0')[0]}/iommu_group`;
    expect(await lab.ask(group)).toMatch(/iommu_groups\/\d+\n$/);
  });

  it('has its cards and drives at the addresses of their slots', async () => {
    const { lab } = cloud;
    const line =
      'cd /sys/bus/pci/devices; for d in *; do echo $d $(cat $d/vendor $d/device $d/class); done';
    const found = new Map(
      (await lab.ask(line))
        .trim()
        .split('\n')
        .map((text) => [text.slice(0, 12), text.slice(13).replaceAll('0x', '')]),
    );
    const seen = (slotId: string) => lab.addresses(slotId).map((address) => found.get(address));
    expect(seen('drive0')).toEqual(['1b36 0010 010802']);
    expect(seen('drive1')).toEqual(['1b36 0010 010802']);
    expect(seen('edu')).toEqual(['1234 11e8 00ff00']);
    expect(seen('bochs')).toEqual(['1234 1111 038000']);
    expect(seen('virtio')).toEqual(['1af4 1050 038000']);
    expect(seen('ati')).toEqual(['1002 5046 030000', '8086 2668 040300']);
    expect(seen('shared')).toEqual(['1234 11e8 00ff00', '1234 11e8 00ff00']);
  });

  it('is a host of the cloud with GPUs and drives', async () => {
    await expect.poll(show).toMatchObject({ state: 'ready', connected: true, trouble: '' });
    const models = async () =>
      (await show()).gpus.map(({ model }: { model: string }) => model).sort();
    await expect.poll(models).toEqual(['1002:5046', BOCHS, VIRTIO]);
    const { drives } = await show();
    const serials = drives.map(({ serial }: { serial: string }) => serial);
    expect(serials.sort()).toEqual(['LAB-NVME-0', 'LAB-NVME-1']);
  });

  /** Reads the content of a slot's drive from outside the machine. */
  const keeps = async (slotId: string, pattern: string) =>
    (await readFile(cloud.lab.driveFile(slotId))).includes(pattern);
  const slotOf = async (vmId: string) => {
    const { drives } = await show();
    const drive = drives.find(({ vm_id }: { vm_id: string }) => vm_id === vmId);
    return drive?.serial === 'LAB-NVME-0' ? 'drive0' : 'drive1';
  };
  const vms = new Map<string, { id: string; slot: string }>();

  it('runs two VMs, created over HTTP, each with its own card and drive', async () => {
    const { client } = cloud;
    const asked = new Map<string, Operation>();
    for (const [name, gpu] of [
      ['bochs', BOCHS],
      ['virtio', VIRTIO],
    ] as const) {
      await offerType(client, { name: `lab.${name}`, gpu, drives: 1 });
      const operation = await client.createVm({
        ...{ name, type: `lab.${name}`, location: LOCATION, image: 'tiny' },
        startup_script: guestLook({ pattern: `tenant-${name}` }),
      });
      asked.set(name, operation);
    }
    for (const [name, operation] of asked) {
      const { id } = await succeeded(client, operation);
      vms.set(name, { id, slot: await slotOf(id) });
    }
    for (const [name, { id, slot }] of vms) {
      await expect.poll(() => serialLog(client, id)).toContain('SEEN all');
      const log = await serialLog(client, id);
      expect(log).toContain(`SEEN pci ${name === 'bochs' ? BOCHS : VIRTIO} 038000`);
      expect(log).not.toContain(`SEEN pci ${name === 'bochs' ? VIRTIO : BOCHS}`);
      if (name === 'bochs') expect(log).toContain('SEEN bochs 0xB0C5 0x0280');
      expect(log).toContain(`SEEN drive LAB-NVME-${slot.at(-1)}`);
      expect(log).toContain('SEEN pattern on /dev/nvme0n1');
      expect(await keeps(slot, `tenant-${name}`)).toBe(true);
    }
    expect(new Set([...vms.values()].map(({ slot }) => slot)).size).toBe(2);
  });

  it('starts both with the same data after a reset of the host', async () => {
    const { client, lab, agent } = cloud;
    expect(vms.size).toBe(2);
    await lab.reset();
    await agent.start();
    for (const [name, { id, slot }] of vms) {
      await expect
        .poll(async () => lab.ask(`virsh -q -c qemu:///system domstate gantry-${id} || true`))
        .toContain('running');
      await expect
        .poll(async () => (await client.call('GET', `/vms/${id}`)).body.state)
        .toBe('STATE_RUNNING');
      expect(await keeps(slot, `tenant-${name}`)).toBe(true);
    }
  });

  it('erases their devices even if the agent dies meanwhile, and keeps receipts', async () => {
    const { client, lab, agent } = cloud;
    expect(vms.size).toBe(2);
    const deletions = [];
    for (const { id } of vms.values()) deletions.push(await client.open('DELETE', `/vms/${id}`));
    await expect
      .poll(async () => lab.ask('virsh -q -c qemu:///system list --name'))
      .not.toContain('gantry-');
    await agent.kill();
    await agent.start();
    for (const operation of deletions) await succeeded(client, operation);
    for (const [name, { id, slot }] of vms) {
      expect(await keeps(slot, `tenant-${name}`)).toBe(false);
      const { body } = await client.call('GET', '/device-receipts');
      const own = body.items.filter(({ vm_id }: { vm_id: string }) => vm_id === id);
      const methods = own.map(({ method }: { method: string }) => method).sort();
      expect(methods).toEqual([name === 'bochs' ? 'bus' : 'flr', 'format_ses1'].sort());
    }
    const { gpus, drives } = await show();
    for (const device of [...gpus, ...drives]) {
      expect(device).toMatchObject({ state: 'ready', vm_id: '' });
    }
    expect((await lab.ask('virsh -q -c qemu:///system list --all --name')).trim()).toBe('');
  });
});
