// Original file: gantry/v1/host.proto

import type { AgentUpgradeReport as _gantry_v1_AgentUpgradeReport, AgentUpgradeReport__Output as _gantry_v1_AgentUpgradeReport__Output } from '../../gantry/v1/AgentUpgradeReport.ts';

export interface Software {
  'os'?: (string);
  'kernel'?: (string);
  'firmware'?: (string);
  'libvirt'?: (string);
  'agent'?: (string);
  'commandLine'?: (string);
  'iommu'?: (string);
  'capabilities'?: (string)[];
  'upgrade'?: (_gantry_v1_AgentUpgradeReport | null);
}

export interface Software__Output {
  'os': (string);
  'kernel': (string);
  'firmware': (string);
  'libvirt': (string);
  'agent': (string);
  'commandLine': (string);
  'iommu': (string);
  'capabilities': (string)[];
  'upgrade': (_gantry_v1_AgentUpgradeReport__Output | null);
}
