import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { AerCounters as _gantry_v1_AerCounters, AerCounters__Output as _gantry_v1_AerCounters__Output } from './gantry/v1/AerCounters.ts';
import type { AgentUpgrade as _gantry_v1_AgentUpgrade, AgentUpgrade__Output as _gantry_v1_AgentUpgrade__Output } from './gantry/v1/AgentUpgrade.ts';
import type { AgentUpgradeReport as _gantry_v1_AgentUpgradeReport, AgentUpgradeReport__Output as _gantry_v1_AgentUpgradeReport__Output } from './gantry/v1/AgentUpgradeReport.ts';
import type { CephfsShare as _gantry_v1_CephfsShare, CephfsShare__Output as _gantry_v1_CephfsShare__Output } from './gantry/v1/CephfsShare.ts';
import type { ConsoleBytes as _gantry_v1_ConsoleBytes, ConsoleBytes__Output as _gantry_v1_ConsoleBytes__Output } from './gantry/v1/ConsoleBytes.ts';
import type { ConsoleSpec as _gantry_v1_ConsoleSpec, ConsoleSpec__Output as _gantry_v1_ConsoleSpec__Output } from './gantry/v1/ConsoleSpec.ts';
import type { Cpu as _gantry_v1_Cpu, Cpu__Output as _gantry_v1_Cpu__Output } from './gantry/v1/Cpu.ts';
import type { Device as _gantry_v1_Device, Device__Output as _gantry_v1_Device__Output } from './gantry/v1/Device.ts';
import type { DeviceReceipt as _gantry_v1_DeviceReceipt, DeviceReceipt__Output as _gantry_v1_DeviceReceipt__Output } from './gantry/v1/DeviceReceipt.ts';
import type { DeviceRef as _gantry_v1_DeviceRef, DeviceRef__Output as _gantry_v1_DeviceRef__Output } from './gantry/v1/DeviceRef.ts';
import type { DiskCopy as _gantry_v1_DiskCopy, DiskCopy__Output as _gantry_v1_DiskCopy__Output } from './gantry/v1/DiskCopy.ts';
import type { DiskLimits as _gantry_v1_DiskLimits, DiskLimits__Output as _gantry_v1_DiskLimits__Output } from './gantry/v1/DiskLimits.ts';
import type { DiskOrderReport as _gantry_v1_DiskOrderReport, DiskOrderReport__Output as _gantry_v1_DiskOrderReport__Output } from './gantry/v1/DiskOrderReport.ts';
import type { DiskReport as _gantry_v1_DiskReport, DiskReport__Output as _gantry_v1_DiskReport__Output } from './gantry/v1/DiskReport.ts';
import type { DiskRestore as _gantry_v1_DiskRestore, DiskRestore__Output as _gantry_v1_DiskRestore__Output } from './gantry/v1/DiskRestore.ts';
import type { DiskSpec as _gantry_v1_DiskSpec, DiskSpec__Output as _gantry_v1_DiskSpec__Output } from './gantry/v1/DiskSpec.ts';
import type { EnrollReply as _gantry_v1_EnrollReply, EnrollReply__Output as _gantry_v1_EnrollReply__Output } from './gantry/v1/EnrollReply.ts';
import type { EnrollRequest as _gantry_v1_EnrollRequest, EnrollRequest__Output as _gantry_v1_EnrollRequest__Output } from './gantry/v1/EnrollRequest.ts';
import type { Failure as _gantry_v1_Failure, Failure__Output as _gantry_v1_Failure__Output } from './gantry/v1/Failure.ts';
import type { FirewallRule as _gantry_v1_FirewallRule, FirewallRule__Output as _gantry_v1_FirewallRule__Output } from './gantry/v1/FirewallRule.ts';
import type { FleetClient as _gantry_v1_FleetClient, FleetDefinition as _gantry_v1_FleetDefinition } from './gantry/v1/Fleet.ts';
import type { FreezeReport as _gantry_v1_FreezeReport, FreezeReport__Output as _gantry_v1_FreezeReport__Output } from './gantry/v1/FreezeReport.ts';
import type { GuestFreeze as _gantry_v1_GuestFreeze, GuestFreeze__Output as _gantry_v1_GuestFreeze__Output } from './gantry/v1/GuestFreeze.ts';
import type { HostReport as _gantry_v1_HostReport, HostReport__Output as _gantry_v1_HostReport__Output } from './gantry/v1/HostReport.ts';
import type { HostSpec as _gantry_v1_HostSpec, HostSpec__Output as _gantry_v1_HostSpec__Output } from './gantry/v1/HostSpec.ts';
import type { HugepagePool as _gantry_v1_HugepagePool, HugepagePool__Output as _gantry_v1_HugepagePool__Output } from './gantry/v1/HugepagePool.ts';
import type { Image as _gantry_v1_Image, Image__Output as _gantry_v1_Image__Output } from './gantry/v1/Image.ts';
import type { ImageContent as _gantry_v1_ImageContent, ImageContent__Output as _gantry_v1_ImageContent__Output } from './gantry/v1/ImageContent.ts';
import type { ImageExport as _gantry_v1_ImageExport, ImageExport__Output as _gantry_v1_ImageExport__Output } from './gantry/v1/ImageExport.ts';
import type { ImageRequest as _gantry_v1_ImageRequest, ImageRequest__Output as _gantry_v1_ImageRequest__Output } from './gantry/v1/ImageRequest.ts';
import type { ImageStored as _gantry_v1_ImageStored, ImageStored__Output as _gantry_v1_ImageStored__Output } from './gantry/v1/ImageStored.ts';
import type { InterfaceSpec as _gantry_v1_InterfaceSpec, InterfaceSpec__Output as _gantry_v1_InterfaceSpec__Output } from './gantry/v1/InterfaceSpec.ts';
import type { Inventory as _gantry_v1_Inventory, Inventory__Output as _gantry_v1_Inventory__Output } from './gantry/v1/Inventory.ts';
import type { Neighbour as _gantry_v1_Neighbour, Neighbour__Output as _gantry_v1_Neighbour__Output } from './gantry/v1/Neighbour.ts';
import type { NetworkMembers as _gantry_v1_NetworkMembers, NetworkMembers__Output as _gantry_v1_NetworkMembers__Output } from './gantry/v1/NetworkMembers.ts';
import type { NetworkReport as _gantry_v1_NetworkReport, NetworkReport__Output as _gantry_v1_NetworkReport__Output } from './gantry/v1/NetworkReport.ts';
import type { NetworkSpec as _gantry_v1_NetworkSpec, NetworkSpec__Output as _gantry_v1_NetworkSpec__Output } from './gantry/v1/NetworkSpec.ts';
import type { Nic as _gantry_v1_Nic, Nic__Output as _gantry_v1_Nic__Output } from './gantry/v1/Nic.ts';
import type { NumaNode as _gantry_v1_NumaNode, NumaNode__Output as _gantry_v1_NumaNode__Output } from './gantry/v1/NumaNode.ts';
import type { NumaShare as _gantry_v1_NumaShare, NumaShare__Output as _gantry_v1_NumaShare__Output } from './gantry/v1/NumaShare.ts';
import type { PciBar as _gantry_v1_PciBar, PciBar__Output as _gantry_v1_PciBar__Output } from './gantry/v1/PciBar.ts';
import type { PciLink as _gantry_v1_PciLink, PciLink__Output as _gantry_v1_PciLink__Output } from './gantry/v1/PciLink.ts';
import type { RbdVolume as _gantry_v1_RbdVolume, RbdVolume__Output as _gantry_v1_RbdVolume__Output } from './gantry/v1/RbdVolume.ts';
import type { ReceiptProperty as _gantry_v1_ReceiptProperty, ReceiptProperty__Output as _gantry_v1_ReceiptProperty__Output } from './gantry/v1/ReceiptProperty.ts';
import type { SerialLog as _gantry_v1_SerialLog, SerialLog__Output as _gantry_v1_SerialLog__Output } from './gantry/v1/SerialLog.ts';
import type { SnapshotOrder as _gantry_v1_SnapshotOrder, SnapshotOrder__Output as _gantry_v1_SnapshotOrder__Output } from './gantry/v1/SnapshotOrder.ts';
import type { SnapshotReport as _gantry_v1_SnapshotReport, SnapshotReport__Output as _gantry_v1_SnapshotReport__Output } from './gantry/v1/SnapshotReport.ts';
import type { Software as _gantry_v1_Software, Software__Output as _gantry_v1_Software__Output } from './gantry/v1/Software.ts';
import type { SpecPiece as _gantry_v1_SpecPiece, SpecPiece__Output as _gantry_v1_SpecPiece__Output } from './gantry/v1/SpecPiece.ts';
import type { SpecRefusal as _gantry_v1_SpecRefusal, SpecRefusal__Output as _gantry_v1_SpecRefusal__Output } from './gantry/v1/SpecRefusal.ts';
import type { StoragePool as _gantry_v1_StoragePool, StoragePool__Output as _gantry_v1_StoragePool__Output } from './gantry/v1/StoragePool.ts';
import type { StoredDisks as _gantry_v1_StoredDisks, StoredDisks__Output as _gantry_v1_StoredDisks__Output } from './gantry/v1/StoredDisks.ts';
import type { SubnetSpec as _gantry_v1_SubnetSpec, SubnetSpec__Output as _gantry_v1_SubnetSpec__Output } from './gantry/v1/SubnetSpec.ts';
import type { VmOperation as _gantry_v1_VmOperation, VmOperation__Output as _gantry_v1_VmOperation__Output } from './gantry/v1/VmOperation.ts';
import type { VmReport as _gantry_v1_VmReport, VmReport__Output as _gantry_v1_VmReport__Output } from './gantry/v1/VmReport.ts';
import type { VmSpec as _gantry_v1_VmSpec, VmSpec__Output as _gantry_v1_VmSpec__Output } from './gantry/v1/VmSpec.ts';
import type { VmTakeDown as _gantry_v1_VmTakeDown, VmTakeDown__Output as _gantry_v1_VmTakeDown__Output } from './gantry/v1/VmTakeDown.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  gantry: {
    v1: {
      Action: EnumTypeDefinition
      AerCounters: MessageTypeDefinition<_gantry_v1_AerCounters, _gantry_v1_AerCounters__Output>
      AgentUpgrade: MessageTypeDefinition<_gantry_v1_AgentUpgrade, _gantry_v1_AgentUpgrade__Output>
      AgentUpgradeReport: MessageTypeDefinition<_gantry_v1_AgentUpgradeReport, _gantry_v1_AgentUpgradeReport__Output>
      CephfsShare: MessageTypeDefinition<_gantry_v1_CephfsShare, _gantry_v1_CephfsShare__Output>
      ConsoleBytes: MessageTypeDefinition<_gantry_v1_ConsoleBytes, _gantry_v1_ConsoleBytes__Output>
      ConsoleSpec: MessageTypeDefinition<_gantry_v1_ConsoleSpec, _gantry_v1_ConsoleSpec__Output>
      Cpu: MessageTypeDefinition<_gantry_v1_Cpu, _gantry_v1_Cpu__Output>
      Device: MessageTypeDefinition<_gantry_v1_Device, _gantry_v1_Device__Output>
      DeviceReceipt: MessageTypeDefinition<_gantry_v1_DeviceReceipt, _gantry_v1_DeviceReceipt__Output>
      DeviceRef: MessageTypeDefinition<_gantry_v1_DeviceRef, _gantry_v1_DeviceRef__Output>
      Direction: EnumTypeDefinition
      DiskCopy: MessageTypeDefinition<_gantry_v1_DiskCopy, _gantry_v1_DiskCopy__Output>
      DiskKind: EnumTypeDefinition
      DiskLimits: MessageTypeDefinition<_gantry_v1_DiskLimits, _gantry_v1_DiskLimits__Output>
      DiskOrderReport: MessageTypeDefinition<_gantry_v1_DiskOrderReport, _gantry_v1_DiskOrderReport__Output>
      DiskReport: MessageTypeDefinition<_gantry_v1_DiskReport, _gantry_v1_DiskReport__Output>
      DiskRestore: MessageTypeDefinition<_gantry_v1_DiskRestore, _gantry_v1_DiskRestore__Output>
      DiskSpec: MessageTypeDefinition<_gantry_v1_DiskSpec, _gantry_v1_DiskSpec__Output>
      EnrollReply: MessageTypeDefinition<_gantry_v1_EnrollReply, _gantry_v1_EnrollReply__Output>
      EnrollRequest: MessageTypeDefinition<_gantry_v1_EnrollRequest, _gantry_v1_EnrollRequest__Output>
      Failure: MessageTypeDefinition<_gantry_v1_Failure, _gantry_v1_Failure__Output>
      FirewallRule: MessageTypeDefinition<_gantry_v1_FirewallRule, _gantry_v1_FirewallRule__Output>
      Fleet: SubtypeConstructor<typeof grpc.Client, _gantry_v1_FleetClient> & { service: _gantry_v1_FleetDefinition }
      FreezeReport: MessageTypeDefinition<_gantry_v1_FreezeReport, _gantry_v1_FreezeReport__Output>
      FreezeState: EnumTypeDefinition
      GuestFreeze: MessageTypeDefinition<_gantry_v1_GuestFreeze, _gantry_v1_GuestFreeze__Output>
      HostReport: MessageTypeDefinition<_gantry_v1_HostReport, _gantry_v1_HostReport__Output>
      HostSpec: MessageTypeDefinition<_gantry_v1_HostSpec, _gantry_v1_HostSpec__Output>
      HugepagePool: MessageTypeDefinition<_gantry_v1_HugepagePool, _gantry_v1_HugepagePool__Output>
      Image: MessageTypeDefinition<_gantry_v1_Image, _gantry_v1_Image__Output>
      ImageContent: MessageTypeDefinition<_gantry_v1_ImageContent, _gantry_v1_ImageContent__Output>
      ImageExport: MessageTypeDefinition<_gantry_v1_ImageExport, _gantry_v1_ImageExport__Output>
      ImageRequest: MessageTypeDefinition<_gantry_v1_ImageRequest, _gantry_v1_ImageRequest__Output>
      ImageStored: MessageTypeDefinition<_gantry_v1_ImageStored, _gantry_v1_ImageStored__Output>
      InterfaceSpec: MessageTypeDefinition<_gantry_v1_InterfaceSpec, _gantry_v1_InterfaceSpec__Output>
      Inventory: MessageTypeDefinition<_gantry_v1_Inventory, _gantry_v1_Inventory__Output>
      Neighbour: MessageTypeDefinition<_gantry_v1_Neighbour, _gantry_v1_Neighbour__Output>
      NetworkMembers: MessageTypeDefinition<_gantry_v1_NetworkMembers, _gantry_v1_NetworkMembers__Output>
      NetworkReport: MessageTypeDefinition<_gantry_v1_NetworkReport, _gantry_v1_NetworkReport__Output>
      NetworkSpec: MessageTypeDefinition<_gantry_v1_NetworkSpec, _gantry_v1_NetworkSpec__Output>
      Nic: MessageTypeDefinition<_gantry_v1_Nic, _gantry_v1_Nic__Output>
      NumaNode: MessageTypeDefinition<_gantry_v1_NumaNode, _gantry_v1_NumaNode__Output>
      NumaShare: MessageTypeDefinition<_gantry_v1_NumaShare, _gantry_v1_NumaShare__Output>
      PciBar: MessageTypeDefinition<_gantry_v1_PciBar, _gantry_v1_PciBar__Output>
      PciLink: MessageTypeDefinition<_gantry_v1_PciLink, _gantry_v1_PciLink__Output>
      RbdVolume: MessageTypeDefinition<_gantry_v1_RbdVolume, _gantry_v1_RbdVolume__Output>
      ReceiptProperty: MessageTypeDefinition<_gantry_v1_ReceiptProperty, _gantry_v1_ReceiptProperty__Output>
      SerialLog: MessageTypeDefinition<_gantry_v1_SerialLog, _gantry_v1_SerialLog__Output>
      SnapshotOrder: MessageTypeDefinition<_gantry_v1_SnapshotOrder, _gantry_v1_SnapshotOrder__Output>
      SnapshotReport: MessageTypeDefinition<_gantry_v1_SnapshotReport, _gantry_v1_SnapshotReport__Output>
      SnapshotState: EnumTypeDefinition
      Software: MessageTypeDefinition<_gantry_v1_Software, _gantry_v1_Software__Output>
      SpecPiece: MessageTypeDefinition<_gantry_v1_SpecPiece, _gantry_v1_SpecPiece__Output>
      SpecRefusal: MessageTypeDefinition<_gantry_v1_SpecRefusal, _gantry_v1_SpecRefusal__Output>
      StoragePool: MessageTypeDefinition<_gantry_v1_StoragePool, _gantry_v1_StoragePool__Output>
      StoredDisks: MessageTypeDefinition<_gantry_v1_StoredDisks, _gantry_v1_StoredDisks__Output>
      SubnetSpec: MessageTypeDefinition<_gantry_v1_SubnetSpec, _gantry_v1_SubnetSpec__Output>
      VmObservedState: EnumTypeDefinition
      VmOperation: MessageTypeDefinition<_gantry_v1_VmOperation, _gantry_v1_VmOperation__Output>
      VmReport: MessageTypeDefinition<_gantry_v1_VmReport, _gantry_v1_VmReport__Output>
      VmSpec: MessageTypeDefinition<_gantry_v1_VmSpec, _gantry_v1_VmSpec__Output>
      VmTakeDown: MessageTypeDefinition<_gantry_v1_VmTakeDown, _gantry_v1_VmTakeDown__Output>
    }
  }
}

