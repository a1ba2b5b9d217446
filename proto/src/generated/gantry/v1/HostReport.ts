// Original file: gantry/v1/host.proto

import type { SpecRefusal as _gantry_v1_SpecRefusal, SpecRefusal__Output as _gantry_v1_SpecRefusal__Output } from '../../gantry/v1/SpecRefusal.ts';
import type { VmReport as _gantry_v1_VmReport, VmReport__Output as _gantry_v1_VmReport__Output } from '../../gantry/v1/VmReport.ts';
import type { DeviceReceipt as _gantry_v1_DeviceReceipt, DeviceReceipt__Output as _gantry_v1_DeviceReceipt__Output } from '../../gantry/v1/DeviceReceipt.ts';
import type { DiskReport as _gantry_v1_DiskReport, DiskReport__Output as _gantry_v1_DiskReport__Output } from '../../gantry/v1/DiskReport.ts';
import type { SerialLog as _gantry_v1_SerialLog, SerialLog__Output as _gantry_v1_SerialLog__Output } from '../../gantry/v1/SerialLog.ts';
import type { Inventory as _gantry_v1_Inventory, Inventory__Output as _gantry_v1_Inventory__Output } from '../../gantry/v1/Inventory.ts';
import type { NetworkReport as _gantry_v1_NetworkReport, NetworkReport__Output as _gantry_v1_NetworkReport__Output } from '../../gantry/v1/NetworkReport.ts';
import type { StoredDisks as _gantry_v1_StoredDisks, StoredDisks__Output as _gantry_v1_StoredDisks__Output } from '../../gantry/v1/StoredDisks.ts';
import type { FreezeReport as _gantry_v1_FreezeReport, FreezeReport__Output as _gantry_v1_FreezeReport__Output } from '../../gantry/v1/FreezeReport.ts';
import type { SnapshotReport as _gantry_v1_SnapshotReport, SnapshotReport__Output as _gantry_v1_SnapshotReport__Output } from '../../gantry/v1/SnapshotReport.ts';
import type { DiskOrderReport as _gantry_v1_DiskOrderReport, DiskOrderReport__Output as _gantry_v1_DiskOrderReport__Output } from '../../gantry/v1/DiskOrderReport.ts';
import type { Long } from '@grpc/proto-loader';

export interface HostReport {
  'unchanged'?: (boolean);
  'acceptedNumber'?: (number | string | Long);
  'refusal'?: (_gantry_v1_SpecRefusal | null);
  'vms'?: (_gantry_v1_VmReport)[];
  'receipts'?: (_gantry_v1_DeviceReceipt)[];
  'disks'?: (_gantry_v1_DiskReport)[];
  'deletedDisks'?: (string)[];
  'firewallNumber'?: (number | string | Long);
  'serialLogs'?: (_gantry_v1_SerialLog)[];
  'inventory'?: (_gantry_v1_Inventory | null);
  'acceptedEra'?: (number | string | Long);
  'acceptedHash'?: (string);
  'firewallHash'?: (string);
  'networks'?: (_gantry_v1_NetworkReport)[];
  'storedDisks'?: (_gantry_v1_StoredDisks | null);
  'freezes'?: (_gantry_v1_FreezeReport)[];
  'snapshots'?: (_gantry_v1_SnapshotReport)[];
  'deletedSnapshots'?: (string)[];
  'diskCopies'?: (_gantry_v1_DiskOrderReport)[];
  'diskRestores'?: (_gantry_v1_DiskOrderReport)[];
  'storedSnapshots'?: (_gantry_v1_StoredDisks | null);
  'imageExports'?: (_gantry_v1_DiskOrderReport)[];
}

export interface HostReport__Output {
  'unchanged': (boolean);
  'acceptedNumber': (string);
  'refusal': (_gantry_v1_SpecRefusal__Output | null);
  'vms': (_gantry_v1_VmReport__Output)[];
  'receipts': (_gantry_v1_DeviceReceipt__Output)[];
  'disks': (_gantry_v1_DiskReport__Output)[];
  'deletedDisks': (string)[];
  'firewallNumber': (string);
  'serialLogs': (_gantry_v1_SerialLog__Output)[];
  'inventory': (_gantry_v1_Inventory__Output | null);
  'acceptedEra': (string);
  'acceptedHash': (string);
  'firewallHash': (string);
  'networks': (_gantry_v1_NetworkReport__Output)[];
  'storedDisks': (_gantry_v1_StoredDisks__Output | null);
  'freezes': (_gantry_v1_FreezeReport__Output)[];
  'snapshots': (_gantry_v1_SnapshotReport__Output)[];
  'deletedSnapshots': (string)[];
  'diskCopies': (_gantry_v1_DiskOrderReport__Output)[];
  'diskRestores': (_gantry_v1_DiskOrderReport__Output)[];
  'storedSnapshots': (_gantry_v1_StoredDisks__Output | null);
  'imageExports': (_gantry_v1_DiskOrderReport__Output)[];
}
