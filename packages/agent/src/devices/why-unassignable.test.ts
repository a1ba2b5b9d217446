import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ImitatedServer } from './testing/imitated-server.ts';
import { vfioDevices } from './vfio-devices.ts';

const VM = '1f0e4a7c-3f0b-4c59-9d6e-0a4f5b1c2d31';
const GPU = '0000:41:00.0';
const SECOND_GPU = '0000:42:00.0';
const DRIVE = '0000:61:00.0';
const SECOND_DRIVE = '0000:62:00.0';
const NIC = '0000:43:00.0';
const DRIVE_BYTES = 4096;

let server: ImitatedServer;
beforeEach(async () => {
  server = await ImitatedServer.make();
});
afterEach(() => server.remove());

const addGpu = (address: string, group: number) =>
  server.add(address, { deviceClass: '030200', driver: 'nouveau', group });
const addDrive = (address: string, group: number) =>
  server.addDrive(address, { serial: address, bytes: DRIVE_BYTES, group });

/** The reasons by address, of the devices that no VM can get. */
async function unassignable(): Promise<Record<string, string>> {
  const devices = await server.readDevices();
  return Object.fromEntries(
    devices.flatMap(({ address, attributes: { unassignable: why } }) =>
      why === undefined ? [] : [[address, why]],
    ),
  );
}

describe('a device that no VM can get', () => {
  it('shares its IOMMU group with a device that the host uses', async () => {
    await addGpu(GPU, 7);
    await server.add(NIC, { deviceClass: '020000', driver: 'e1000e', group: 7 });
    expect(await unassignable()).toEqual({
      [GPU]: expect.stringMatching(
        /^shares IOMMU group 7 with 0000:43:00\.0, .* e1000e uses: .*ACS/,
      ),
    });
  });

  it.each([
    ['two drives', [DRIVE, SECOND_DRIVE]],
    ['a GPU and a drive', [GPU, DRIVE]],
  ])('is one of %s in one group, because each may get another VM', async (_, addresses) => {
    for (const address of addresses)
      await (address === GPU ? addGpu(address, 7) : addDrive(address, 7));
    expect(Object.keys(await unassignable())).toEqual(addresses);
  });

  it('stays one while a VM has the other device of its group', async () => {
    await addDrive(DRIVE, 7);
    await server.add(SECOND_DRIVE, { deviceClass: '010802', driver: 'vfio-pci', group: 7 });
    expect(Object.keys(await unassignable())).toEqual([DRIVE, SECOND_DRIVE]);
  });

  it('is a drive behind Intel VMD', async () => {
    await server.add('10000:e1:00.0', {
      ...{ deviceClass: '010802', driver: 'nvme' },
      bridge: '0000:40:05.5/pci10000:e0/10000:e0:06.0',
    });
    expect(await unassignable()).toEqual({
      '10000:e1:00.0': expect.stringMatching(
        /^is behind the storage controller 0000:40:05\.5.*VMD/,
      ),
    });
  });
});

describe('a device that VMs can get', () => {
  it('is alone in its group, but for its other functions, bridges and devices without a driver', async () => {
    await addGpu(GPU, 7);
    await server.add('0000:41:00.1', { deviceClass: '040300', driver: 'snd_hda_intel', group: 7 });
    await server.add('0000:40:02.0', { deviceClass: '060400', driver: 'pcieport', group: 7 });
    await server.add(NIC, { deviceClass: '020000', group: 7 });
    await addDrive(DRIVE, 9);
    expect(await unassignable()).toEqual({});
  });

  it('is a GPU in a group of GPUs, which placement gives to one VM together', async () => {
    await addGpu(GPU, 7);
    await addGpu(SECOND_GPU, 7);
    expect(await unassignable()).toEqual({});
  });

  it('is a drive whose blocks guests get, whatever its group', async () => {
    server.drivesAsBlocks = true;
    await addDrive(DRIVE, 7);
    await addDrive(SECOND_DRIVE, 7);
    expect(await unassignable()).toEqual({});
  });
});

it('the agent can assign every device that it reports as assignable, with the GPUs of its group', async () => {
  await addGpu(GPU, 7);
  await addGpu(SECOND_GPU, 7);
  await addGpu('0000:44:00.0', 8);
  await server.add(NIC, { deviceClass: '020000', driver: 'e1000e', group: 8 });
  await addDrive(DRIVE, 9);
  await addDrive(SECOND_DRIVE, 10);
  await addDrive('0000:63:00.0', 10);
  const devices = vfioDevices(server.options());
  const outcomes: Record<string, boolean> = {};
  for (const { address, kind, iommuGroup, attributes } of await server.readDevices()) {
    const companions = kind === 'gpu' && iommuGroup === 7 ? [GPU, SECOND_GPU] : [address];
    const bound = devices.bind({ vmId: VM, kind, address }, companions);
    const isBound = await bound.then(
      () => true,
      () => false,
    );
    outcomes[address] = isBound;
    expect([address, isBound]).toEqual([address, attributes['unassignable'] === undefined]);
    if (!isBound) continue;
    await devices.release({ vmId: VM, kind, address });
  }
  expect(Object.values(outcomes)).toEqual([true, true, false, true, false, false]);
});
