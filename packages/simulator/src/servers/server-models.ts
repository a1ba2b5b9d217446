import {
  A40,
  A100_40GB,
  A100_80GB,
  CONNECTX_6,
  CONNECTX_7,
  DRIVE_960GB,
  GEN4_SWITCH,
  GEN5_SWITCH,
  GENOA_PORT,
  L40S,
  MILAN_PORT,
} from './cards.ts';
import type { ServerModel } from './server-model.ts';

const MILAN = {
  rootPort: MILAN_PORT,
  switchPort: GEN4_SWITCH,
  nic: CONNECTX_6,
  companionsPerNode: [DRIVE_960GB, DRIVE_960GB, DRIVE_960GB, DRIVE_960GB],
};
const GENOA = {
  rootPort: GENOA_PORT,
  switchPort: GEN5_SWITCH,
  nic: CONNECTX_7,
  companionsPerNode: [],
};

/** Each model has room for one VM of the largest type of its family and for the host itself. */
export const SERVER_MODELS: readonly ServerModel[] = [
  {
    ...MILAN,
    name: 'a40-8',
    cpuModel: 'AMD EPYC 7543 32-Core Processor',
    coresPerNode: 32,
    memoryGibPerNode: 384,
    gpu: A40,
    gpusBySwitch: [2, 2],
    nvlinkBridged: true,
    firmware: '2.14.1',
  },
  {
    ...MILAN,
    name: 'a100-40gb-8',
    cpuModel: 'AMD EPYC 7763 64-Core Processor',
    coresPerNode: 64,
    memoryGibPerNode: 768,
    gpu: A100_40GB,
    gpusBySwitch: [4],
    nvlinkBridged: true,
    firmware: '2.14.1',
  },
  {
    ...MILAN,
    name: 'a100-80gb-8',
    cpuModel: 'AMD EPYC 7763 64-Core Processor',
    coresPerNode: 64,
    memoryGibPerNode: 768,
    gpu: A100_80GB,
    gpusBySwitch: [2, 2],
    nvlinkBridged: true,
    firmware: '2.15.0',
  },
  {
    ...GENOA,
    name: 'l40s-8',
    cpuModel: 'AMD EPYC 9454 48-Core Processor',
    coresPerNode: 48,
    memoryGibPerNode: 768,
    gpu: L40S,
    gpusBySwitch: [4],
    nvlinkBridged: false,
    firmware: '1.9a',
  },
  {
    ...GENOA,
    name: 'l40s-10',
    cpuModel: 'AMD EPYC 9454 48-Core Processor',
    coresPerNode: 48,
    memoryGibPerNode: 1_152,
    gpu: L40S,
    gpusBySwitch: [3, 2],
    nvlinkBridged: false,
    firmware: '1.9a',
  },
];
