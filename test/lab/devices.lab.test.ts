import type { Device } from '@gantry/agent/host-driver';
import { type DeviceOrders, deviceOrders } from '@gantry/testkit/lab/machine/device-orders';
import { readPlatform } from '@gantry/testkit/lab/machine/platforms';
import { DEFAULT_SLOTS } from '@gantry/testkit/lab/machine/slots';
import { type Lab, startLab } from '@gantry/testkit/lab/machine/start-lab';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

/**
 * Tests the agent's code for devices with a real kernel, its IOMMU groups, vfio-pci and NVMe driver.
 * Other files test what a guest sees of the devices.
 */
const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const OTHER_VM = '2f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d32';
const BOCHS = 'bochs-display,romfile=';
/** A domain other than the usual 0000, if the machine's platform can have one. */
const DOMAIN = 0x1a2b;

let lab: Lab;
let orders: DeviceOrders;

beforeAll(async () => {
  const slots = DEFAULT_SLOTS.filter(({ id }) => id !== 'shared');
  lab = await startLab({
    slots: [...slots, { id: 'shared', behindSwitch: [BOCHS, BOCHS] }],
    ...(readPlatform().hasDeviceTree ? { pciDomain: DOMAIN } : {}),
  });
  orders = await deviceOrders(lab);
});
afterAll(() => lab?.stop());
// A case that passes leaves every device as it found it. A case that fails must not fail the next.
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await restore();
});

/** Ends every use of the devices and gives them back to their host drivers. */
async function restore() {
  await lab.run(`[ -e /tmp/holder ] && kill $(cat /tmp/holder)
    umount -l /mnt /boot; swapoff -a; mdadm --stop --scan; vgchange -an; udevadm settle`);
  for (const slotId of ['virtio', 'bochs', 'drive0', 'drive1']) await plugInAgain(at(slotId));
  for (const device of await orders.list()) await orders.release(device);
  await lab.run(`D=${await namespaceOf(at('drive1'))}; wipefs -qa $D; udevadm settle`);
}

const portOf = (address: string) =>
  `$(basename $(dirname $(readlink -f /sys/bus/pci/devices/${address})))`;
/** Turns the power of a device's slot on or off. The kernel is not notified. */
const setPower = async (address: string, isOn: boolean) => {
  await lab.ask(`setpci -s ${portOf(address)} CAP_EXP+18.w=${isOn ? '0000' : '0400'}:0400`);
  const { stdout } = await lab.run(`od -An -tx4 -N4 /sys/bus/pci/devices/${address}/config`);
  expect(stdout.trim() === 'ffffffff').toBe(!isOn);
};
/** A device that was without power has lost its settings: the kernel finds it as a new one. */
const plugInAgain = async (address: string) => {
  await setPower(address, true);
  await lab.ask(`echo 1 >/sys/bus/pci/devices/${address}/remove
    echo 1 >/sys/bus/pci/rescan; udevadm settle; test -e /sys/bus/pci/devices/${address}`);
};

const at = (slotId: string, index = 0) => lab.addresses(slotId)[index] ?? '';
const gpu = (slotId: string): Device => ({ vmId: VM, kind: 'gpu', address: at(slotId) });
const drive = (slotId: string): Device => ({ vmId: VM, kind: 'drive', address: at(slotId) });
const driverOf = (address: string) =>
  lab
    .ask(`basename "$(readlink /sys/bus/pci/devices/${address}/driver || echo none)"`)
    .then((text) => text.trim());
const namespaceOf = async (address: string) =>
  `/dev/${(await lab.ask(`ls /sys/bus/pci/devices/${address}/nvme/*/ | grep -x 'nvme[0-9]*n1'`)).trim()}`;

describe('a card', () => {
  it('with two functions is bound whole, and returns reset and with its drivers', async () => {
    const functions = lab.addresses('ati');
    const before = await Promise.all(functions.map(driverOf));
    expect(await orders.bind(gpu('ati'))).toEqual({ result: null });
    expect(await Promise.all(functions.map(driverOf))).toEqual(['vfio-pci', 'vfio-pci']);
    expect(await orders.list()).toEqual([gpu('ati')]);
    const { result } = await orders.release(gpu('ati'));
    expect(result).toMatchObject({ serial: '', method: 'bus', failure: null });
    expect(await Promise.all(functions.map(driverOf))).toEqual(before);
  });

  it('with a function-level reset is reset by it', async () => {
    await orders.bind(gpu('virtio'));
    expect(await orders.release(gpu('virtio'))).toMatchObject({
      result: { method: 'flr', failure: null },
    });
  });

  it('that shares its IOMMU group is refused with the name of the conflicting member', async () => {
    const [first = '', second = ''] = lab.addresses('shared');
    await lab.ask('modprobe bochs');
    expect(await driverOf(second)).toBe('bochs-drm');
    const { refusal } = await orders.bind({ vmId: VM, kind: 'gpu', address: first });
    expect(refusal).toMatchObject({ code: 'iommu_group_shared' });
    expect(refusal?.message).toContain(second);
    expect(refusal?.message).toContain('bochs-drm');
    expect(await driverOf(first)).toBe('bochs-drm');

    const companions = [first, second];
    for (const address of companions) {
      const device: Device = { vmId: VM, kind: 'gpu', address };
      expect(await orders.bind(device, { companions })).toEqual({ result: null });
    }
    expect(await driverOf(second)).toBe('vfio-pci');
    for (const address of companions) {
      const device: Device = { vmId: VM, kind: 'gpu', address };
      expect(await orders.release(device)).toMatchObject({ result: { failure: null } });
      expect(await driverOf(address)).toBe('bochs-drm');
    }
  });

  it('that another VM uses is refused by the agent and by VFIO itself', async () => {
    expect(await orders.bind(gpu('bochs'))).toEqual({ result: null });
    const other = { ...gpu('bochs'), vmId: OTHER_VM };
    expect(await orders.bind(other)).toMatchObject({ refusal: { code: 'device_in_use' } });
    const group = (
      await lab.ask(`basename $(readlink /sys/bus/pci/devices/${at('bochs')}/iommu_group)`)
    ).trim();
    await lab.ask(`sleep 600 9<>/dev/vfio/${group} >/dev/null 2>&1 & echo $! >/tmp/holder`);
    const second = await lab.run(`exec 9<>/dev/vfio/${group}`);
    expect(second.status).not.toBe(0);
    expect(second.stderr).toContain('busy');
    const { refusal } = await orders.release(gpu('bochs'));
    expect(refusal).toMatchObject({ code: 'device_in_use' });
    expect(refusal?.message).toMatch(/still open in sleep \(\d+\)/);
    await lab.ask('kill $(cat /tmp/holder)');
    await expect.poll(async () => (await orders.release(gpu('bochs'))).result?.failure).toBe(null);
  });

  it('that is absent is refused', async () => {
    const absent: Device = { vmId: VM, kind: 'gpu', address: '0000:99:00.0' };
    expect(await orders.bind(absent)).toMatchObject({ refusal: { code: 'device_missing' } });
    expect(await orders.release(absent)).toMatchObject({
      result: { failure: { code: 'device_missing' } },
    });
  });
});

describe('a drive', () => {
  const PATTERN = 'a tenant wrote this';
  const write = (path: string) =>
    lab.ask(`yes '${PATTERN}' | head -c 8388608 | dd of=${path} bs=1M oflag=direct status=none`);
  const countPattern = async (path: string) =>
    Number(await lab.ask(`head -c 8388608 ${path} | grep -ac '${PATTERN}' || true`));

  it('returns erased, with a receipt that names the drive and the method', async () => {
    const path = await namespaceOf(at('drive0'));
    await write(path);
    expect(await orders.bind(drive('drive0'))).toEqual({ result: null });
    expect(await driverOf(at('drive0'))).toBe('vfio-pci');
    expect((await lab.run(`test -b ${path}`)).status).toBe(1);
    expect(await orders.release(drive('drive0'))).toMatchObject({
      result: { serial: 'LAB-NVME-0', method: 'format_ses1', failure: null },
    });
    expect(await driverOf(at('drive0'))).toBe('nvme');
    const left = `head -c 8388608 ${await namespaceOf(at('drive0'))} | tr -d '\\0' | wc -c`;
    expect(Number(await lab.ask(left))).toBe(0);
  });

  it.each([
    ['mounted', 'mkfs.ext4 -q $D && mount $D /mnt', 'umount /mnt', /mounted at \/mnt/],
    [
      'the boot disk',
      'mkfs.ext4 -q -F $D && mkdir -p /boot && mount $D /boot',
      'umount /boot',
      /the boot disk/,
    ],
    ['swapped on', 'mkswap -q -f $D && swapon $D', 'swapoff $D', /swap on/],
    [
      'in LVM',
      'wipefs -qa $D; pvcreate -qfy $D && vgcreate -q lab $D && lvcreate -qn data -L 64M lab',
      'vgremove -qfy lab && pvremove -qfy $D',
      /LVM volume lab-data/,
    ],
    [
      'a member of LVM that is not in use',
      'wipefs -qa $D; pvcreate -qfy $D',
      'pvremove -qfy $D',
      /LVM/,
    ],
    [
      'in a RAID',
      'wipefs -qa $D; mdadm --create /dev/md9 --run --force --level=1 --raid-devices=1 $D',
      'mdadm --stop /dev/md9 && mdadm --zero-superblock $D',
      /RAID md9/,
    ],
  ])('that is %s is refused and stays unchanged', async (_, use, unuse, message) => {
    const path = await namespaceOf(at('drive1'));
    await lab.ask(`D=${path}; ${use}`);
    const { refusal } = await orders.bind(drive('drive1'));
    await lab.ask(`D=${path}; ${unuse}`);
    expect(refusal).toMatchObject({ code: 'device_in_use_by_host' });
    expect(refusal?.message).toMatch(message);
    expect(await driverOf(at('drive1'))).toBe('nvme');
  });

  it("with a tenant's volume group is never assembled by the host", async () => {
    await lab.ask(`wipefs -qa ${await namespaceOf(at('drive1'))}`);
    expect(await orders.bind(drive('drive1'))).toEqual({ result: null });
    // As after a reboot of the host: the host's driver has the drive with the tenant's data on it.
    await lab.ask(`echo > /sys/bus/pci/devices/${at('drive1')}/driver_override
      echo ${at('drive1')} > /sys/bus/pci/devices/${at('drive1')}/driver/unbind
      echo ${at('drive1')} > /sys/bus/pci/drivers_probe; udevadm settle`);
    const path = await namespaceOf(at('drive1'));
    await lab.ask(`pvcreate -qfy ${path} && vgcreate -q tenant ${path} && lvcreate -qn t -L 64M tenant
      vgchange -qan tenant; udevadm trigger --action=add ${path}; udevadm settle`);
    expect(await lab.ask('ls /dev/mapper')).not.toContain('tenant-t');
    expect(await orders.bind(drive('drive1'))).toEqual({ result: null });
    expect(await orders.release(drive('drive1'))).toMatchObject({ result: { failure: null } });
    expect(await lab.ask('pvs --noheadings')).toBe('');
  });

  it('that a VM gets as a block device stays with the host and is erased', async () => {
    const path = await namespaceOf(at('drive0'));
    await write(path);
    const more = { drivesAsBlocks: true };
    expect(await orders.bind(drive('drive0'), more)).toEqual({ result: null });
    expect(await countPattern(path)).toBeGreaterThan(0);
    expect(await orders.release(drive('drive0'), more)).toMatchObject({
      result: { method: 'format_ses1', failure: null },
    });
    expect(await countPattern(path)).toBe(0);
  });
});

describe('if the agent is killed before each request to the kernel', () => {
  it.each(['ati', 'drive0'])('%s is still bound and released', async (slotId) => {
    const device = slotId === 'ati' ? gpu(slotId) : drive(slotId);
    const before = await Promise.all(lab.addresses(slotId).map(driverOf));
    const bound = await orders.insist({ order: 'bind', device });
    expect(bound.deaths.length).toBeGreaterThan(2);
    expect(await driverOf(device.address)).toBe('vfio-pci');
    const released = await orders.insist({ order: 'release', device });
    expect(released.deaths.length).toBeGreaterThan(4);
    expect(released.result).toMatchObject({ failure: null });
    expect(await Promise.all(lab.addresses(slotId).map(driverOf))).toEqual(before);
    expect(await orders.list()).toEqual([]);
  });
});

describe('a device that fell off the bus', () => {
  const lost = (address: string) => ({
    code: 'device_lost',
    message: `${address} fell off the bus: its config space reads as all ones`,
  });

  it.each(['virtio', 'drive1'])('is not bound: %s', async (slotId) => {
    const device = slotId === 'virtio' ? gpu(slotId) : drive(slotId);
    const before = await driverOf(device.address);
    await setPower(device.address, false);
    expect(await orders.bind(device)).toEqual({ refusal: lost(device.address) });
    expect(await orders.list()).toEqual([]);
    await plugInAgain(device.address);
    expect(await driverOf(device.address)).toBe(before);
  });

  it.each(['bochs', 'drive0'])('returns without proof that it is clean: %s', async (slotId) => {
    const device = slotId === 'bochs' ? gpu(slotId) : drive(slotId);
    const before = await driverOf(device.address);
    expect(await orders.bind(device)).toEqual({ result: null });
    await setPower(device.address, false);
    expect(await orders.release(device)).toMatchObject({
      result: { method: 'none', failure: lost(device.address) },
    });
    await plugInAgain(device.address);
    expect(await driverOf(device.address)).toBe(before);
  });
});
