// Original file: gantry/v1/host.proto

import type { VmSpec as _gantry_v1_VmSpec, VmSpec__Output as _gantry_v1_VmSpec__Output } from '../../gantry/v1/VmSpec.ts';
import type { VmTakeDown as _gantry_v1_VmTakeDown, VmTakeDown__Output as _gantry_v1_VmTakeDown__Output } from '../../gantry/v1/VmTakeDown.ts';
import type { DiskSpec as _gantry_v1_DiskSpec, DiskSpec__Output as _gantry_v1_DiskSpec__Output } from '../../gantry/v1/DiskSpec.ts';
import type { FirewallRule as _gantry_v1_FirewallRule, FirewallRule__Output as _gantry_v1_FirewallRule__Output } from '../../gantry/v1/FirewallRule.ts';
import type { ConsoleSpec as _gantry_v1_ConsoleSpec, ConsoleSpec__Output as _gantry_v1_ConsoleSpec__Output } from '../../gantry/v1/ConsoleSpec.ts';
import type { NetworkSpec as _gantry_v1_NetworkSpec, NetworkSpec__Output as _gantry_v1_NetworkSpec__Output } from '../../gantry/v1/NetworkSpec.ts';
import type { SpecPiece as _gantry_v1_SpecPiece, SpecPiece__Output as _gantry_v1_SpecPiece__Output } from '../../gantry/v1/SpecPiece.ts';
import type { NetworkMembers as _gantry_v1_NetworkMembers, NetworkMembers__Output as _gantry_v1_NetworkMembers__Output } from '../../gantry/v1/NetworkMembers.ts';
import type { AgentUpgrade as _gantry_v1_AgentUpgrade, AgentUpgrade__Output as _gantry_v1_AgentUpgrade__Output } from '../../gantry/v1/AgentUpgrade.ts';
import type { VmOperation as _gantry_v1_VmOperation, VmOperation__Output as _gantry_v1_VmOperation__Output } from '../../gantry/v1/VmOperation.ts';
import type { DiskLimits as _gantry_v1_DiskLimits, DiskLimits__Output as _gantry_v1_DiskLimits__Output } from '../../gantry/v1/DiskLimits.ts';
import type { GuestFreeze as _gantry_v1_GuestFreeze, GuestFreeze__Output as _gantry_v1_GuestFreeze__Output } from '../../gantry/v1/GuestFreeze.ts';
import type { SnapshotOrder as _gantry_v1_SnapshotOrder, SnapshotOrder__Output as _gantry_v1_SnapshotOrder__Output } from '../../gantry/v1/SnapshotOrder.ts';
import type { DiskCopy as _gantry_v1_DiskCopy, DiskCopy__Output as _gantry_v1_DiskCopy__Output } from '../../gantry/v1/DiskCopy.ts';
import type { DiskRestore as _gantry_v1_DiskRestore, DiskRestore__Output as _gantry_v1_DiskRestore__Output } from '../../gantry/v1/DiskRestore.ts';
import type { ImageExport as _gantry_v1_ImageExport, ImageExport__Output as _gantry_v1_ImageExport__Output } from '../../gantry/v1/ImageExport.ts';
import type { Long } from '@grpc/proto-loader';

export interface HostSpec {
  'number'?: (number | string | Long);
  'vms'?: (_gantry_v1_VmSpec)[];
  'takeDowns'?: (_gantry_v1_VmTakeDown)[];
  'disks'?: (_gantry_v1_DiskSpec)[];
  'deletedDisks'?: (string)[];
  'firewallRules'?: (_gantry_v1_FirewallRule)[];
  'consoles'?: (_gantry_v1_ConsoleSpec)[];
  'networks'?: (_gantry_v1_NetworkSpec)[];
  'era'?: (number | string | Long);
  'hash'?: (string);
  'needs'?: (string)[];
  'authoritySha256s'?: (string)[];
  'pieceHashes'?: (string)[];
  'pieces'?: (_gantry_v1_SpecPiece)[];
  'members'?: (_gantry_v1_NetworkMembers)[];
  'agentUpgrade'?: (_gantry_v1_AgentUpgrade | null);
  'operations'?: (_gantry_v1_VmOperation)[];
  'diskLimits'?: (_gantry_v1_DiskLimits)[];
  'freezes'?: (_gantry_v1_GuestFreeze)[];
  'snapshots'?: (_gantry_v1_SnapshotOrder)[];
  'deletedSnapshots'?: (string)[];
  'diskCopies'?: (_gantry_v1_DiskCopy)[];
  'diskRestores'?: (_gantry_v1_DiskRestore)[];
  'imageExports'?: (_gantry_v1_ImageExport)[];
}

export interface HostSpec__Output {
  'number': (string);
  'vms': (_gantry_v1_VmSpec__Output)[];
  'takeDowns': (_gantry_v1_VmTakeDown__Output)[];
  'disks': (_gantry_v1_DiskSpec__Output)[];
  'deletedDisks': (string)[];
  'firewallRules': (_gantry_v1_FirewallRule__Output)[];
  'consoles': (_gantry_v1_ConsoleSpec__Output)[];
  'networks': (_gantry_v1_NetworkSpec__Output)[];
  'era': (string);
  'hash': (string);
  'needs': (string)[];
  'authoritySha256s': (string)[];
  'pieceHashes': (string)[];
  'pieces': (_gantry_v1_SpecPiece__Output)[];
  'members': (_gantry_v1_NetworkMembers__Output)[];
  'agentUpgrade': (_gantry_v1_AgentUpgrade__Output | null);
  'operations': (_gantry_v1_VmOperation__Output)[];
  'diskLimits': (_gantry_v1_DiskLimits__Output)[];
  'freezes': (_gantry_v1_GuestFreeze__Output)[];
  'snapshots': (_gantry_v1_SnapshotOrder__Output)[];
  'deletedSnapshots': (string)[];
  'diskCopies': (_gantry_v1_DiskCopy__Output)[];
  'diskRestores': (_gantry_v1_DiskRestore__Output)[];
  'imageExports': (_gantry_v1_ImageExport__Output)[];
}
