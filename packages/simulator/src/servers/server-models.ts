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
import type { ServerModel, ServerNode } from './server-model.ts';

const MILAN = { rootPort: MILAN_PORT, switchPort: GEN4_SWITCH };
const GENOA = { rootPort: GENOA_PORT, switchPort: GEN5_SWITCH };
const MILAN_NODE = {
  nics: [CONNECTX_6],
  companions: [DRIVE_960GB, DRIVE_960GB, DRIVE_960GB, DRIVE_960GB],
};
const GENOA_NODE = { nics: [CONNECTX_7], companions: [] };

/** Two identical sockets. Each is one NUMA node. */
function twoSockets(node: Omit<ServerNode, 'socket'>): ServerNode[] {
  return [0, 1].map((socket) => ({ socket, ...node }));
}

/** Each model has room for one VM of the largest type of its family and for the host itself. */
export const SERVER_MODELS: readonly ServerModel[] = [
  {
    ...MILAN,
    name: 'a40-8',
    cpuModel: 'AMD EPYC 7543 32-Core Processor',
    nodes: twoSockets({ ...MILAN_NODE, cores: 32, memoryGib: 384, gpusBySwitch: [2, 2] }),
    gpu: A40,
    nvlinkBridged: false,
    firmware: '2.14.1',
  },
  {
    ...MILAN,
    name: 'a100-40gb-8',
    cpuModel: 'AMD EPYC 7763 64-Core Processor',
    nodes: twoSockets({ ...MILAN_NODE, cores: 64, memoryGib: 768, gpusBySwitch: [4] }),
    gpu: A100_40GB,
    nvlinkBridged: false,
    firmware: '2.14.1',
  },
  {
    ...MILAN,
    name: 'a100-80gb-8',
    cpuModel: 'AMD EPYC 7763 64-Core Processor',
    nodes: twoSockets({ ...MILAN_NODE, cores: 64, memoryGib: 768, gpusBySwitch: [2, 2] }),
    gpu: A100_80GB,
    nvlinkBridged: false,
    firmware: '2.15.0',
  },
  {
    ...GENOA,
    name: 'l40s-8',
    cpuModel: 'AMD EPYC 9454 48-Core Processor',
    nodes: twoSockets({ ...GENOA_NODE, cores: 48, memoryGib: 768, gpusBySwitch: [4] }),
    gpu: L40S,
    nvlinkBridged: false,
    firmware: '1.9a',
  },
  {
    ...GENOA,
    name: 'l40s-10',
    cpuModel: 'AMD EPYC 9454 48-Core Processor',
    nodes: twoSockets({ ...GENOA_NODE, cores: 48, memoryGib: 1_152, gpusBySwitch: [3, 2] }),
    gpu: L40S,
    nvlinkBridged: false,
    firmware: '1.9a',
  },
];
