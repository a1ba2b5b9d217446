import { afterEach, expect, it } from 'vitest';
import { pciTree } from '../../../base/sysfs-tree.ts';
import { doctorHosts } from '../../../doctor/testing/doctor-hosts.ts';
import { checkDrives, checkNvmeCli } from './check-drives.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const drive = (address: string, controller: string) =>
  pciTree(address, {
    ...{ class: '0x010802', vendor: '0x144d', device: '0xa80a' },
    [`nvme/${controller}/model`]: 'PM9A3',
    [`nvme/${controller}/serial`]: `SERIAL-${controller}`,
    [`nvme/${controller}/${controller}n1/size`]: '8',
  });

const TREE = {
  sys: {
    ...drive('0000:21:00.0', 'nvme0'),
    ...drive('0000:22:00.0', 'nvme1'),
    'class/block/nvme0n1/dev': '259:0',
  },
  root: { 'proc/self/mountinfo': '36 35 259:0 / / rw - ext4 /dev/nvme0n1 rw' },
};

it('drives for VMs and drives that the host uses are listed separately, with their use', async () => {
  expect(await checkDrives(await make(TREE))).toMatchObject([
    { severity: 'ok', found: expect.stringContaining('1 of 2 are for VMs') },
    {
      severity: 'ok',
      found: "0000:21:00.0 PM9A3 SERIAL-nvme0 is the host's: the boot disk: mounted at /",
    },
  ]);
});

it.each([
  [{ critical_warning: 4 }, 'warns of itself (0x4)'],
  [{ percentage_used: 104 }, 'past its life (104 %)'],
  [{ percentage_used: 99 }, null],
])('a drive with %j is worn: %s', async (worn, found) => {
  const health = {
    ...{ critical_warning: 0, percentage_used: 1, available_spare: 100 },
    ...{ spare_threshold: 10, media_errors: 0, ...worn },
  };
  const host = await make(TREE);
  const devices = host.devices.slice(1).map((one) => ({ ...one, health }));
  const warnings = (await checkDrives({ ...host, devices })).filter(
    ({ severity }) => severity !== 'ok',
  );
  expect(warnings.map((warning) => warning.found)).toEqual(
    found === null ? [] : [expect.stringContaining(found)],
  );
});

it('nvme-cli is required on a host with drives, and not on a host without', async () => {
  const run = () => Promise.reject(new Error('it is not installed'));
  expect(await checkNvmeCli(await make({ ...TREE, run }))).toMatchObject([{ severity: 'fail' }]);
  expect(await checkNvmeCli(await make({ run }))).toEqual([]);
  const replying = { ...TREE, run: async () => 'nvme version 2.4 (git 2.4)' };
  expect(await checkNvmeCli(await make(replying))).toMatchObject([
    { severity: 'ok', found: '2.4' },
  ]);
});
