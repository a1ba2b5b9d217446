import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offerType, serialLog, succeeded } from './cloud/lab-vms.ts';
import { HOST, type LabCloud, LOCATION, startLabCloud } from './cloud/start-lab-cloud.ts';
import { guestLook } from './image/guest-look.ts';

const BOCHS = '1234:1111';
const TYPE = 'lab.1x';

describe('a GPU server of emulated hardware', () => {
  let cloud: LabCloud;

  beforeAll(async () => {
    cloud = await startLabCloud();
  });
  afterAll(() => cloud?.stop());

  it('has KVM, an IOMMU, and libvirt that answers', async () => {
    const { lab } = cloud;
    expect(await lab.run('test -c /dev/kvm')).toMatchObject({ status: 0 });
    expect(await lab.ask('virsh -c qemu:///system version')).toContain('QEMU');
    const group = `readlink /sys/bus/pci/devices/${lab.addresses('drive0')[0]}/iommu_group`;
    expect(await lab.ask(group)).toMatch(/iommu_groups\/\d+\n$/);
  });

  it('has its cards and drives where they were plugged in', async () => {
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

  it('is a host of the cloud, with its GPUs and drives', async () => {
    const show = async () => {
      const { body } = await cloud.client.admin('GET', '/hosts');
      return body.items.find(({ name }: { name: string }) => name === HOST);
    };
    await expect.poll(show).toMatchObject({ state: 'ready', connected: true });
    const models = async () =>
      (await show()).gpus.map(({ model }: { model: string }) => model).sort();
    await expect.poll(models).toEqual(['1002:5046', BOCHS, '1af4:1050']);
    const { drives } = await show();
    const serials = drives.map(({ serial }: { serial: string }) => serial);
    expect(serials.sort()).toEqual(['LAB-NVME-0', 'LAB-NVME-1']);
  });

  it('runs a VM that was created over HTTP, and nothing of it is left once it is deleted', async () => {
    const { client, lab } = cloud;
    await offerType(client, { name: TYPE, gpu: BOCHS, drives: 1 });
    const operation = await client.createVm({
      ...{ name: 'first', type: TYPE, location: LOCATION, image: 'tiny' },
      startup_script: guestLook({ pattern: 'first-tenant' }),
    });
    const vm = await succeeded(client, operation);
    expect(vm).toMatchObject({ state: 'STATE_RUNNING' });
    await expect.poll(() => serialLog(client, vm.id)).toContain('SEEN all');
    await succeeded(client, await client.open('DELETE', `/vms/${vm.id}`));
    expect((await lab.ask('virsh -q -c qemu:///system list --all --name')).trim()).toBe('');
  });
});
