import {
  A40,
  A100_40GB,
  A100_80GB,
  CONNECTX_6,
  CONNECTX_6_25G,
  CONNECTX_6_100G,
  CONNECTX_7_INFINIBAND,
  DRIVE_960GB,
  GEN4_SWITCH,
  GEN5_SWITCH,
  GENOA_PORT,
  ICE_LAKE_PORT,
  L40S,
  MILAN_PORT,
  SAPPHIRE_PORT,
} from './cards.ts';
import type { PciCard, ServerModel, ServerNode } from './server-model.ts';

/**
 * Servers with the shapes of published models. Slots, sockets, CPUs, memory, drives, network cards and firmware
 * settings are plausible for these models. They were not read from such machines.
 */
export type PublishedServer = ServerModel & { title: string; notes: string };

const MILAN = { rootPort: MILAN_PORT, switchPort: GEN4_SWITCH, firmware: '2.8' };
const GENOA = { rootPort: GENOA_PORT, switchPort: GEN5_SWITCH, firmware: '1.9a' };
const ICE_LAKE = { rootPort: ICE_LAKE_PORT, switchPort: GEN4_SWITCH, firmware: '1.12.1' };
const SAPPHIRE = { rootPort: SAPPHIRE_PORT, switchPort: GEN5_SWITCH, firmware: '2.1' };
const PLAIN = { nvlinkBridged: false };

const drives = (count: number): PciCard[] => Array.from({ length: count }, () => DRIVE_960GB);

/** A node without devices. */
function node(socket: number, given: Partial<ServerNode>): ServerNode {
  return {
    ...{ socket, cores: 0, memoryGib: 0, gpusBySwitch: [], companions: [], nics: [] },
    ...given,
  };
}

export const PUBLISHED_SERVERS: readonly PublishedServer[] = [
  {
    ...{ ...MILAN, ...PLAIN, name: 'supermicro-as-4124gs-tnr', gpu: A40 },
    title: 'Supermicro AS-4124GS-TNR',
    notes: 'NPS1, GPUs at the CPUs, 4 drives on the second socket, one 100G NIC',
    cpuModel: 'AMD EPYC 7543 32-Core Processor',
    nodes: [
      node(0, { cores: 32, memoryGib: 512, gpusAtRoot: 4, nics: [CONNECTX_6_100G] }),
      node(1, { cores: 32, memoryGib: 512, gpusAtRoot: 4, companions: drives(4) }),
    ],
  },
  {
    ...{ ...MILAN, ...PLAIN, name: 'gigabyte-g292-z20', gpu: A40 },
    title: 'Gigabyte G292-Z20',
    notes: 'one socket, NPS1, 4 GPUs behind each switch, 8 drives, one 100G NIC',
    cpuModel: 'AMD EPYC 7713P 64-Core Processor',
    nodes: [
      node(0, {
        ...{ cores: 64, memoryGib: 512, gpusBySwitch: [4, 4] },
        ...{ companions: drives(8), nics: [CONNECTX_6_100G] },
      }),
    ],
  },
  {
    ...{ ...MILAN, ...PLAIN, name: 'asus-esc4000a-e11', gpu: A40 },
    title: 'ASUS ESC4000A-E11',
    notes: 'one socket, NPS4, GPUs on two of the four nodes, 2 drives, two 25G NICs',
    cpuModel: 'AMD EPYC 7543P 32-Core Processor',
    nodes: [
      node(0, { cores: 8, memoryGib: 128, nics: [CONNECTX_6_25G, CONNECTX_6_25G] }),
      node(0, { cores: 8, memoryGib: 128, gpusAtRoot: 2 }),
      node(0, { cores: 8, memoryGib: 128, gpusAtRoot: 2 }),
      node(0, { cores: 8, memoryGib: 128, companions: drives(2) }),
    ],
  },
  {
    ...{ ...MILAN, name: 'gigabyte-g292-z40', gpu: A100_40GB, nvlinkBridged: true },
    title: 'Gigabyte G292-Z40',
    notes:
      'NPS1, 4 GPUs behind each switch, NVLink bridges, 8 drives on the first socket, two 100G NICs',
    cpuModel: 'AMD EPYC 7713 64-Core Processor',
    nodes: [
      node(0, {
        ...{ cores: 64, memoryGib: 512, gpusBySwitch: [4] },
        ...{ companions: drives(8), nics: [CONNECTX_6_100G] },
      }),
      node(1, { cores: 64, memoryGib: 512, gpusBySwitch: [4], nics: [CONNECTX_6_100G] }),
    ],
  },
  {
    ...{ ...MILAN, ...PLAIN, name: 'asus-esc8000a-e11', gpu: A100_80GB },
    title: 'ASUS ESC8000A-E11',
    notes: 'NPS4, GPUs on two of the four nodes of each socket, 8 drives, one 200G NIC',
    cpuModel: 'AMD EPYC 7763 64-Core Processor',
    nodes: [0, 1].flatMap((socket) => [
      node(socket, { cores: 16, memoryGib: 128, nics: socket === 0 ? [CONNECTX_6] : [] }),
      node(socket, { cores: 16, memoryGib: 128, gpusAtRoot: 2 }),
      node(socket, { cores: 16, memoryGib: 128, gpusAtRoot: 2 }),
      node(socket, { cores: 16, memoryGib: 128, companions: drives(4) }),
    ]),
  },
  {
    ...{ ...ICE_LAKE, ...PLAIN, name: 'lenovo-sr670-v2', gpu: A100_80GB, switchesLackAcs: true },
    title: 'Lenovo ThinkSystem SR670 V2, 8-DW',
    notes: 'ACS of the switches off, 2 GPUs behind each, 6 drives, one 100G NIC',
    cpuModel: 'Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz',
    nodes: [
      node(0, {
        ...{ cores: 32, memoryGib: 512, gpusBySwitch: [2, 2] },
        ...{ companions: drives(4), nics: [CONNECTX_6_100G] },
      }),
      node(1, { cores: 32, memoryGib: 512, gpusBySwitch: [2, 2], companions: drives(2) }),
    ],
  },
  {
    ...{ ...ICE_LAKE, name: 'dell-r750xa', gpu: A100_80GB, nvlinkBridged: true },
    title: 'Dell PowerEdge R750xa',
    notes: 'SNC2, GPUs and drives on the first node of each socket, NVLink bridges, two 25G NICs',
    cpuModel: 'Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz',
    nodes: [0, 1].flatMap((socket) => [
      node(socket, {
        ...{ cores: 16, memoryGib: 128, gpusAtRoot: 2 },
        ...{ companions: drives(2), nics: [CONNECTX_6_25G] },
      }),
      node(socket, { cores: 16, memoryGib: 128 }),
    ]),
  },
  {
    ...{ ...GENOA, ...PLAIN, name: 'supermicro-as-4125gs-tnrt', gpu: L40S },
    title: 'Supermicro AS-4125GS-TNRT',
    notes: 'NPS1, GPUs at the CPUs, no drives for VMs, two 25G NICs',
    cpuModel: 'AMD EPYC 9354 32-Core Processor',
    nodes: [
      node(0, {
        ...{ cores: 32, memoryGib: 768, gpusAtRoot: 4 },
        nics: [CONNECTX_6_25G, CONNECTX_6_25G],
      }),
      node(1, { cores: 32, memoryGib: 768, gpusAtRoot: 4 }),
    ],
  },
  {
    ...{ ...SAPPHIRE, ...PLAIN, name: 'supermicro-sys-421ge-tnrt', gpu: L40S },
    title: 'Supermicro SYS-421GE-TNRT',
    notes: '5 GPUs behind a switch of each socket, two 100G and two InfiniBand NICs',
    cpuModel: 'Intel(R) Xeon(R) Platinum 8462Y+',
    nodes: [0, 1].map((socket) =>
      node(socket, {
        ...{ cores: 32, memoryGib: 1_024, gpusBySwitch: [5] },
        nics: [CONNECTX_6_100G, CONNECTX_7_INFINIBAND],
      }),
    ),
  },
  {
    ...{ ...SAPPHIRE, ...PLAIN, name: 'asus-esc8000-e11', gpu: L40S, hidesNodesOfDevices: true },
    title: 'ASUS ESC8000-E11',
    notes: 'SNC2, firmware that names no NUMA node for any device, one 100G NIC',
    cpuModel: 'Intel(R) Xeon(R) Gold 6448Y',
    nodes: [0, 1].flatMap((socket) => [
      node(socket, {
        ...{ cores: 16, memoryGib: 384, gpusBySwitch: [4] },
        nics: socket === 0 ? [CONNECTX_6_100G] : [],
      }),
      node(socket, { cores: 16, memoryGib: 384 }),
    ]),
  },
];
