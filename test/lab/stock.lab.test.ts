import { labAgentUnit } from '@gantry/testkit/lab/cloud/lab-agent';
import { offerType, serialLog, succeeded } from '@gantry/testkit/lab/cloud/lab-vms';
import {
  HOST,
  type LabCloud,
  LOCATION,
  startLabCloud,
} from '@gantry/testkit/lab/cloud/start-lab-cloud';
import { buildStockImage } from '@gantry/testkit/lab/image/stock/build-stock-image';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const GPU = '1234:1111';
const DRIVES = ['drive0', 'drive1'] as const;
const IN_FORCE = '/etc/gantry/early-boot-drives.rules.in-force';

describe('a stock Debian server', () => {
  let cloud: LabCloud;

  beforeAll(async () => {
    cloud = await startLabCloud({ image: () => buildStockImage(), agentOf: labAgentUnit });
  });
  afterAll(() => cloud?.stop());

  const show = async () => {
    const { body } = await cloud.client.admin('GET', '/hosts');
    return body.items.find(({ name }: { name: string }) => name === HOST);
  };
  const vm: { id: string } = { id: '' };
  const stateOfVm = async () => (await cloud.client.call('GET', `/vms/${vm.id}`)).body.state;

  it('enforces AppArmor for libvirt and runs VMs as libvirt-qemu', async () => {
    const { lab } = cloud;
    expect(await lab.ask('cat /sys/kernel/security/apparmor/profiles')).toContain(
      'libvirtd (enforce)',
    );
    expect(await lab.ask('systemctl is-active libvirtd apparmor')).toBe('active\nactive\n');
    expect(await lab.ask("grep -Ec '^(user|security_driver)' /etc/libvirt/qemu.conf || true")).toBe(
      '0\n',
    );
    expect(await lab.ask('lsinitramfs /boot/initrd.img-* | grep -c sbin/mdadm')).toBe('1\n');
  });

  it('keeps the drives that VMs may get out of the reach of its initramfs', async () => {
    const { lab } = cloud;
    const listed = async () => (await lab.run(`cat ${IN_FORCE}`)).stdout;
    await expect.poll(listed, { timeout: 900_000 }).toContain('LAB-NVME-0');
    expect(await listed()).toContain('LAB-NVME-1');
    const inside = 'lsinitramfs /boot/initrd.img-* | grep rules.d/10-gantry';
    expect(await lab.ask(inside)).toContain('10-gantry-tenant-drives.rules');
  });

  it('starts a VM from an image, with a GPU and two drives', async () => {
    const { client, lab } = cloud;
    await expect.poll(show).toMatchObject({ state: 'ready', connected: true, trouble: '' });
    await offerType(client, { name: 'lab.raid', gpu: GPU, drives: 2 });
    const members = await raidMembers();
    const write = members.map(
      (bytes, drive) => `echo ${bytes} | base64 -d | gunzip >/dev/nvme${drive}n1`,
    );
    const operation = await client.createVm({
      ...{ name: 'raid', type: 'lab.raid', location: LOCATION, image: 'tiny' },
      startup_script: `#!/bin/sh\n${write.join('\n')}\nsync\necho SEEN raid\n`,
    });
    vm.id = (await succeeded(client, operation)).id;
    await expect.poll(() => serialLog(client, vm.id)).toContain('SEEN raid');
    const confined = await lab.ask(
      `for p in $(pgrep -f guest=gantry-${vm.id}); do cat /proc/$p/attr/current; stat -c %U /proc/$p; done`,
    );
    expect(confined).toMatch(/^libvirt-[-0-9a-f]+ \(enforce\)\nlibvirt-qemu\n/m);
    expect(await lab.ask('stat -c %U /var/lib/gantry-data/images/*.img')).toBe('root\n');
  });

  it('does not assemble the RAID of a tenant when it boots, and starts the VM again', async () => {
    const { lab } = cloud;
    await lab.ask('sync');
    await lab.reset();
    expect(await lab.ask('cat /proc/mdstat')).not.toMatch(/^md/m);
    await vmRunsAgain();
    expect(await lab.ask('cat /proc/mdstat')).not.toMatch(/^md/m);
  });

  it('stops a RAID of a tenant that it has assembled, and starts the VM', async () => {
    const { lab, agent } = cloud;
    await lab.ask('systemctl disable gantry-agent && sync');
    await lab.reset();
    const [first, second] = await Promise.all(
      DRIVES.map((slot) =>
        lab.ask(
          `ls /sys/bus/pci/devices/${lab.addresses(slot)[0]}/nvme/*/ | grep -x 'nvme[0-9]*n1'`,
        ),
      ),
    );
    await lab.ask(`mdadm --assemble --run /dev/md127 /dev/${first?.trim()} /dev/${second?.trim()}`);
    expect(await lab.ask('cat /proc/mdstat')).toMatch(/^md127 : active raid0/m);
    await agent.start();
    await vmRunsAgain();
    expect(await lab.ask('cat /proc/mdstat')).not.toMatch(/^md/m);
    const { drives } = await show();
    for (const drive of drives) expect(drive).toMatchObject({ vm_id: vm.id, problems: [] });
  });

  it('returns the devices of a deleted VM with receipts', async () => {
    const { client, lab } = cloud;
    await succeeded(client, await client.open('DELETE', `/vms/${vm.id}`));
    const { body } = await client.call('GET', '/device-receipts');
    const methods = body.items.map(({ method }: { method: string }) => method).sort();
    expect(methods).toEqual(['bus', 'format_ses1', 'format_ses1']);
    const { gpus, drives } = await show();
    for (const device of [...gpus, ...drives]) {
      expect(device).toMatchObject({ state: 'ready', vm_id: '' });
    }
    expect((await lab.ask('virsh -q -c qemu:///system list --all --name')).trim()).toBe('');
  });

  /** The state in the control plane is from before the reset until the host has reported. */
  async function vmRunsAgain(): Promise<void> {
    const running = async () => cloud.lab.ask('virsh -q -c qemu:///system list --name');
    await expect.poll(running).toContain(`gantry-${vm.id}`);
    await expect.poll(stateOfVm).toBe('STATE_RUNNING');
  }

  /** Creates a RAID0 on files of the drives' size, and returns the start of each, as base64. */
  async function raidMembers(): Promise<string[]> {
    const { lab } = cloud;
    await lab.ask(`set -e
      for i in 0 1; do truncate -s 1G /root/member$i; losetup /dev/loop$i /root/member$i; done
      mdadm --create /dev/md9 --level=0 --raid-devices=2 --metadata=1.2 --run /dev/loop0 /dev/loop1
      mdadm --stop /dev/md9; losetup -d /dev/loop0; losetup -d /dev/loop1`);
    const start = (name: string) =>
      lab.ask(`head -c 16384 /root/${name} | gzip -9n | base64 -w0; rm /root/${name}`);
    return [await start('member0'), await start('member1')];
  }
});
