import { driveSysfs, nicSysfs } from './card-sysfs.ts';
import type { GpuCard, PciCard } from './server-model.ts';

/** The devices of server models, with the ids of real devices. */

const NVIDIA = {
  vendorId: '10de',
  subsystemVendorId: '10de',
  driver: 'vfio-pci',
  resetMethods: 'flr bus',
  linkGts: '16.0',
  linkWidth: 16,
};

/** With display outputs enabled, as some operators run it, so that it has a second function. */
export const A40: GpuCard = {
  ...NVIDIA,
  class: '030000',
  deviceId: '2235',
  subsystemDeviceId: '145a',
  audio: {
    ...NVIDIA,
    class: '040300',
    deviceId: '1aef',
    subsystemDeviceId: '145a',
    resetMethods: '',
  },
};
export const A100_40GB: GpuCard = {
  ...NVIDIA,
  class: '030200',
  deviceId: '20f1',
  subsystemDeviceId: '145f',
};
export const A100_80GB: GpuCard = {
  ...NVIDIA,
  class: '030200',
  deviceId: '20b5',
  subsystemDeviceId: '1533',
};
export const L40S: GpuCard = {
  ...NVIDIA,
  class: '030200',
  deviceId: '26b9',
  subsystemDeviceId: '1851',
};

export const DRIVE_960GB: PciCard = {
  class: '010802',
  vendorId: '144d',
  deviceId: 'a80a',
  subsystemVendorId: '144d',
  subsystemDeviceId: 'a813',
  driver: 'nvme',
  resetMethods: 'flr bus',
  linkGts: '16.0',
  linkWidth: 4,
  sysfs: driveSysfs({
    model: 'SAMSUNG MZQL2960HCJR-00A07',
    firmware: 'GDC5602Q',
    sectors: 1_875_385_008,
  }),
};

const MELLANOX = {
  class: '020000',
  vendorId: '15b3',
  subsystemVendorId: '15b3',
  driver: 'mlx5_core',
  resetMethods: 'flr bus',
  linkWidth: 16,
  sysfs: nicSysfs({ speedMbps: 200_000 }),
};
export const CONNECTX_6: PciCard = {
  ...MELLANOX,
  deviceId: '101b',
  subsystemDeviceId: '0007',
  linkGts: '16.0',
};
export const CONNECTX_7: PciCard = {
  ...MELLANOX,
  deviceId: '1021',
  subsystemDeviceId: '0023',
  linkGts: '32.0',
};

export const CONNECTX_6_100G: PciCard = {
  ...CONNECTX_6,
  deviceId: '101d',
  sysfs: nicSysfs({ speedMbps: 100_000 }),
};
export const CONNECTX_6_25G: PciCard = {
  ...CONNECTX_6,
  deviceId: '101f',
  linkWidth: 8,
  sysfs: nicSysfs({ speedMbps: 25_000 }),
};
export const CONNECTX_7_INFINIBAND: PciCard = {
  ...CONNECTX_7,
  class: '020700',
  sysfs: nicSysfs({ speedMbps: 400_000, link: 'infiniband' }),
};

const BRIDGE = {
  class: '060400',
  subsystemVendorId: '0000',
  subsystemDeviceId: '0000',
  driver: 'pcieport',
  resetMethods: '',
  linkWidth: 16,
};
const AMD_PORT = { ...BRIDGE, vendorId: '1022', subsystemVendorId: '1022' };
const BROADCOM_PORT = { ...BRIDGE, vendorId: '1000', subsystemVendorId: '1000' };
/** Root ports of EPYC 7003 and 9004, and Broadcom's switches of the same generations. */
export const MILAN_PORT: PciCard = { ...AMD_PORT, deviceId: '1483', linkGts: '16.0' };
export const GENOA_PORT: PciCard = { ...AMD_PORT, deviceId: '14ab', linkGts: '32.0' };
/** Root ports of Xeon Scalable, third and fourth generation. */
const INTEL_PORT = { ...BRIDGE, vendorId: '8086', subsystemVendorId: '8086' };
export const ICE_LAKE_PORT: PciCard = { ...INTEL_PORT, deviceId: '347a', linkGts: '16.0' };
export const SAPPHIRE_PORT: PciCard = { ...INTEL_PORT, deviceId: '352a', linkGts: '32.0' };
export const GEN4_SWITCH: PciCard = { ...BROADCOM_PORT, deviceId: 'c010', linkGts: '16.0' };
export const GEN5_SWITCH: PciCard = { ...BROADCOM_PORT, deviceId: 'c030', linkGts: '32.0' };

/** Devices of every server that no VM gets: its screen and the controller of its boot drives. */
export const MANAGEMENT_SCREEN: PciCard = {
  class: '030000',
  vendorId: '1a03',
  deviceId: '2000',
  subsystemVendorId: '1a03',
  subsystemDeviceId: '2000',
  driver: 'ast',
  resetMethods: '',
  linkGts: '5.0',
  linkWidth: 1,
};
export const BOOT_SATA: PciCard = {
  class: '010601',
  vendorId: '1022',
  deviceId: '7901',
  subsystemVendorId: '1022',
  subsystemDeviceId: '7901',
  driver: 'ahci',
  resetMethods: '',
  linkGts: '16.0',
  linkWidth: 16,
};
