// Written by scripts/generate.ts from libvirt's protocol definitions. Do not edit.

import { type Codec, array, chars, double, fixedChars, fixedOpaque, hyper, int, opaque, optional, string, struct, uhyper, uint, union } from '../xdr/codec.ts';
import type * as types from './types.ts';

export const connectOpenArgsCodec: Codec<types.ConnectOpenArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const connectGetTypeRetCodec: Codec<types.ConnectGetTypeRet> = /* @__PURE__ */ struct({
  type: /* @__PURE__ */ string(4194304),
});

export const connectGetVersionRetCodec: Codec<types.ConnectGetVersionRet> = /* @__PURE__ */ struct({
  hvVer: uhyper,
});

export const connectGetMaxVcpusArgsCodec: Codec<types.ConnectGetMaxVcpusArgs> = /* @__PURE__ */ struct({
  type: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const connectGetMaxVcpusRetCodec: Codec<types.ConnectGetMaxVcpusRet> = /* @__PURE__ */ struct({
  maxVcpus: int,
});

export const nodeGetInfoRetCodec: Codec<types.NodeGetInfoRet> = /* @__PURE__ */ struct({
  model: /* @__PURE__ */ fixedChars(32),
  memory: uhyper,
  cpus: int,
  mhz: int,
  nodes: int,
  sockets: int,
  cores: int,
  threads: int,
});

export const connectGetCapabilitiesRetCodec: Codec<types.ConnectGetCapabilitiesRet> = /* @__PURE__ */ struct({
  capabilities: /* @__PURE__ */ string(4194304),
});

export const domainCodec: Codec<types.Domain> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  uuid: /* @__PURE__ */ fixedOpaque(16),
  id: int,
});

export const domainAttachDeviceArgsCodec: Codec<types.DomainAttachDeviceArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xml: /* @__PURE__ */ string(4194304),
});

export const domainCreateArgsCodec: Codec<types.DomainCreateArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainCreateXmlArgsCodec: Codec<types.DomainCreateXmlArgs> = /* @__PURE__ */ struct({
  xmlDesc: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainCreateXmlRetCodec: Codec<types.DomainCreateXmlRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainDefineXmlArgsCodec: Codec<types.DomainDefineXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainDefineXmlRetCodec: Codec<types.DomainDefineXmlRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainDestroyArgsCodec: Codec<types.DomainDestroyArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainDetachDeviceArgsCodec: Codec<types.DomainDetachDeviceArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xml: /* @__PURE__ */ string(4194304),
});

export const domainGetXmlDescArgsCodec: Codec<types.DomainGetXmlDescArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetXmlDescRetCodec: Codec<types.DomainGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainGetAutostartArgsCodec: Codec<types.DomainGetAutostartArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetAutostartRetCodec: Codec<types.DomainGetAutostartRet> = /* @__PURE__ */ struct({
  autostart: int,
});

export const domainGetInfoArgsCodec: Codec<types.DomainGetInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetInfoRetCodec: Codec<types.DomainGetInfoRet> = /* @__PURE__ */ struct({
  state: uint,
  maxMem: uhyper,
  memory: uhyper,
  nrVirtCpu: uint,
  cpuTime: uhyper,
});

export const domainGetMaxMemoryArgsCodec: Codec<types.DomainGetMaxMemoryArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetMaxMemoryRetCodec: Codec<types.DomainGetMaxMemoryRet> = /* @__PURE__ */ struct({
  memory: uhyper,
});

export const domainGetMaxVcpusArgsCodec: Codec<types.DomainGetMaxVcpusArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetMaxVcpusRetCodec: Codec<types.DomainGetMaxVcpusRet> = /* @__PURE__ */ struct({
  num: int,
});

export const domainGetOsTypeArgsCodec: Codec<types.DomainGetOsTypeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetOsTypeRetCodec: Codec<types.DomainGetOsTypeRet> = /* @__PURE__ */ struct({
  type: /* @__PURE__ */ string(4194304),
});

export const domainGetVcpusArgsCodec: Codec<types.DomainGetVcpusArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  maxinfo: int,
  maplen: int,
});

export const vcpuInfoCodec: Codec<types.VcpuInfo> = /* @__PURE__ */ struct({
  number: uint,
  state: int,
  cpuTime: uhyper,
  cpu: int,
});

export const domainGetVcpusRetCodec: Codec<types.DomainGetVcpusRet> = /* @__PURE__ */ struct({
  info: /* @__PURE__ */ array(16384, vcpuInfoCodec),
  cpumaps: /* @__PURE__ */ opaque(8388608),
});

export const connectListDefinedDomainsArgsCodec: Codec<types.ConnectListDefinedDomainsArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListDefinedDomainsRetCodec: Codec<types.ConnectListDefinedDomainsRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const domainLookupByIdArgsCodec: Codec<types.DomainLookupByIdArgs> = /* @__PURE__ */ struct({
  id: int,
});

export const domainLookupByIdRetCodec: Codec<types.DomainLookupByIdRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainLookupByNameArgsCodec: Codec<types.DomainLookupByNameArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const domainLookupByNameRetCodec: Codec<types.DomainLookupByNameRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainLookupByUuidArgsCodec: Codec<types.DomainLookupByUuidArgs> = /* @__PURE__ */ struct({
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const domainLookupByUuidRetCodec: Codec<types.DomainLookupByUuidRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const connectNumOfDefinedDomainsRetCodec: Codec<types.ConnectNumOfDefinedDomainsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const domainPinVcpuArgsCodec: Codec<types.DomainPinVcpuArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  vcpu: uint,
  cpumap: /* @__PURE__ */ opaque(2048),
});

export const domainRebootArgsCodec: Codec<types.DomainRebootArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainResumeArgsCodec: Codec<types.DomainResumeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainSetAutostartArgsCodec: Codec<types.DomainSetAutostartArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  autostart: int,
});

export const domainSetMaxMemoryArgsCodec: Codec<types.DomainSetMaxMemoryArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  memory: uhyper,
});

export const domainSetMemoryArgsCodec: Codec<types.DomainSetMemoryArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  memory: uhyper,
});

export const domainSetVcpusArgsCodec: Codec<types.DomainSetVcpusArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nvcpus: uint,
});

export const domainShutdownArgsCodec: Codec<types.DomainShutdownArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainSuspendArgsCodec: Codec<types.DomainSuspendArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainUndefineArgsCodec: Codec<types.DomainUndefineArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const connectListDefinedNetworksArgsCodec: Codec<types.ConnectListDefinedNetworksArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListDefinedNetworksRetCodec: Codec<types.ConnectListDefinedNetworksRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const connectListDomainsArgsCodec: Codec<types.ConnectListDomainsArgs> = /* @__PURE__ */ struct({
  maxids: int,
});

export const connectListDomainsRetCodec: Codec<types.ConnectListDomainsRet> = /* @__PURE__ */ struct({
  ids: /* @__PURE__ */ array(16384, int),
});

export const connectListNetworksArgsCodec: Codec<types.ConnectListNetworksArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListNetworksRetCodec: Codec<types.ConnectListNetworksRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const networkCodec: Codec<types.Network> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const networkCreateArgsCodec: Codec<types.NetworkCreateArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkCreateXmlArgsCodec: Codec<types.NetworkCreateXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const networkCreateXmlRetCodec: Codec<types.NetworkCreateXmlRet> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkDefineXmlArgsCodec: Codec<types.NetworkDefineXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const networkDefineXmlRetCodec: Codec<types.NetworkDefineXmlRet> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkDestroyArgsCodec: Codec<types.NetworkDestroyArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkGetXmlDescArgsCodec: Codec<types.NetworkGetXmlDescArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
  flags: uint,
});

export const networkGetXmlDescRetCodec: Codec<types.NetworkGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const networkGetAutostartArgsCodec: Codec<types.NetworkGetAutostartArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkGetAutostartRetCodec: Codec<types.NetworkGetAutostartRet> = /* @__PURE__ */ struct({
  autostart: int,
});

export const networkGetBridgeNameArgsCodec: Codec<types.NetworkGetBridgeNameArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkGetBridgeNameRetCodec: Codec<types.NetworkGetBridgeNameRet> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const networkLookupByNameArgsCodec: Codec<types.NetworkLookupByNameArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const networkLookupByNameRetCodec: Codec<types.NetworkLookupByNameRet> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkLookupByUuidArgsCodec: Codec<types.NetworkLookupByUuidArgs> = /* @__PURE__ */ struct({
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const networkLookupByUuidRetCodec: Codec<types.NetworkLookupByUuidRet> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkSetAutostartArgsCodec: Codec<types.NetworkSetAutostartArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
  autostart: int,
});

export const networkUndefineArgsCodec: Codec<types.NetworkUndefineArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const connectNumOfDefinedNetworksRetCodec: Codec<types.ConnectNumOfDefinedNetworksRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectNumOfDomainsRetCodec: Codec<types.ConnectNumOfDomainsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectNumOfNetworksRetCodec: Codec<types.ConnectNumOfNetworksRet> = /* @__PURE__ */ struct({
  num: int,
});

export const domainCoreDumpArgsCodec: Codec<types.DomainCoreDumpArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  to: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainRestoreArgsCodec: Codec<types.DomainRestoreArgs> = /* @__PURE__ */ struct({
  from: /* @__PURE__ */ string(4194304),
});

export const domainSaveArgsCodec: Codec<types.DomainSaveArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  to: /* @__PURE__ */ string(4194304),
});

export const domainGetSchedulerTypeArgsCodec: Codec<types.DomainGetSchedulerTypeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetSchedulerTypeRetCodec: Codec<types.DomainGetSchedulerTypeRet> = /* @__PURE__ */ struct({
  type: /* @__PURE__ */ string(4194304),
  nparams: int,
});

export const domainGetSchedulerParametersArgsCodec: Codec<types.DomainGetSchedulerParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nparams: int,
});

export const typedParamValueCodec: Codec<types.TypedParamValue> = /* @__PURE__ */ union({
  1: int,
  2: uint,
  3: hyper,
  4: uhyper,
  5: double,
  6: int,
  7: /* @__PURE__ */ string(4194304),
});

export const typedParamCodec: Codec<types.TypedParam> = /* @__PURE__ */ struct({
  field: /* @__PURE__ */ string(4194304),
  value: typedParamValueCodec,
});

export const domainGetSchedulerParametersRetCodec: Codec<types.DomainGetSchedulerParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
});

export const domainSetSchedulerParametersArgsCodec: Codec<types.DomainSetSchedulerParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(16, typedParamCodec),
});

export const connectGetHostnameRetCodec: Codec<types.ConnectGetHostnameRet> = /* @__PURE__ */ struct({
  hostname: /* @__PURE__ */ string(4194304),
});

export const connectSupportsFeatureArgsCodec: Codec<types.ConnectSupportsFeatureArgs> = /* @__PURE__ */ struct({
  feature: int,
});

export const connectSupportsFeatureRetCodec: Codec<types.ConnectSupportsFeatureRet> = /* @__PURE__ */ struct({
  supported: int,
});

export const domainMigratePrepareArgsCodec: Codec<types.DomainMigratePrepareArgs> = /* @__PURE__ */ struct({
  uriIn: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
});

export const domainMigratePrepareRetCodec: Codec<types.DomainMigratePrepareRet> = /* @__PURE__ */ struct({
  cookie: /* @__PURE__ */ opaque(4194304),
  uriOut: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const domainMigratePerformArgsCodec: Codec<types.DomainMigratePerformArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cookie: /* @__PURE__ */ opaque(4194304),
  uri: /* @__PURE__ */ string(4194304),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
});

export const domainMigrateFinishArgsCodec: Codec<types.DomainMigrateFinishArgs> = /* @__PURE__ */ struct({
  dname: /* @__PURE__ */ string(4194304),
  cookie: /* @__PURE__ */ opaque(4194304),
  uri: /* @__PURE__ */ string(4194304),
  flags: uhyper,
});

export const domainMigrateFinishRetCodec: Codec<types.DomainMigrateFinishRet> = /* @__PURE__ */ struct({
  ddom: domainCodec,
});

export const domainBlockStatsArgsCodec: Codec<types.DomainBlockStatsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
});

export const domainBlockStatsRetCodec: Codec<types.DomainBlockStatsRet> = /* @__PURE__ */ struct({
  rdReq: hyper,
  rdBytes: hyper,
  wrReq: hyper,
  wrBytes: hyper,
  errs: hyper,
});

export const domainInterfaceStatsArgsCodec: Codec<types.DomainInterfaceStatsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  device: /* @__PURE__ */ string(4194304),
});

export const domainInterfaceStatsRetCodec: Codec<types.DomainInterfaceStatsRet> = /* @__PURE__ */ struct({
  rxBytes: hyper,
  rxPackets: hyper,
  rxErrs: hyper,
  rxDrop: hyper,
  txBytes: hyper,
  txPackets: hyper,
  txErrs: hyper,
  txDrop: hyper,
});

export const authListRetCodec: Codec<types.AuthListRet> = /* @__PURE__ */ struct({
  types: /* @__PURE__ */ array(20, int),
});

export const authSaslInitRetCodec: Codec<types.AuthSaslInitRet> = /* @__PURE__ */ struct({
  mechlist: /* @__PURE__ */ string(4194304),
});

export const authSaslStartArgsCodec: Codec<types.AuthSaslStartArgs> = /* @__PURE__ */ struct({
  mech: /* @__PURE__ */ string(4194304),
  nil: int,
  data: /* @__PURE__ */ chars(65536),
});

export const authSaslStartRetCodec: Codec<types.AuthSaslStartRet> = /* @__PURE__ */ struct({
  complete: int,
  nil: int,
  data: /* @__PURE__ */ chars(65536),
});

export const authSaslStepArgsCodec: Codec<types.AuthSaslStepArgs> = /* @__PURE__ */ struct({
  nil: int,
  data: /* @__PURE__ */ chars(65536),
});

export const authSaslStepRetCodec: Codec<types.AuthSaslStepRet> = /* @__PURE__ */ struct({
  complete: int,
  nil: int,
  data: /* @__PURE__ */ chars(65536),
});

export const authPolkitRetCodec: Codec<types.AuthPolkitRet> = /* @__PURE__ */ struct({
  complete: int,
});

export const connectNumOfStoragePoolsRetCodec: Codec<types.ConnectNumOfStoragePoolsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectListStoragePoolsArgsCodec: Codec<types.ConnectListStoragePoolsArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListStoragePoolsRetCodec: Codec<types.ConnectListStoragePoolsRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const connectNumOfDefinedStoragePoolsRetCodec: Codec<types.ConnectNumOfDefinedStoragePoolsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectListDefinedStoragePoolsArgsCodec: Codec<types.ConnectListDefinedStoragePoolsArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListDefinedStoragePoolsRetCodec: Codec<types.ConnectListDefinedStoragePoolsRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const connectFindStoragePoolSourcesArgsCodec: Codec<types.ConnectFindStoragePoolSourcesArgs> = /* @__PURE__ */ struct({
  type: /* @__PURE__ */ string(4194304),
  srcSpec: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const connectFindStoragePoolSourcesRetCodec: Codec<types.ConnectFindStoragePoolSourcesRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const storagePoolCreateXmlArgsCodec: Codec<types.StoragePoolCreateXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const storagePoolCodec: Codec<types.StoragePool> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const storagePoolCreateXmlRetCodec: Codec<types.StoragePoolCreateXmlRet> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolDefineXmlArgsCodec: Codec<types.StoragePoolDefineXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const storagePoolDefineXmlRetCodec: Codec<types.StoragePoolDefineXmlRet> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolCreateArgsCodec: Codec<types.StoragePoolCreateArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  flags: uint,
});

export const storagePoolBuildArgsCodec: Codec<types.StoragePoolBuildArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  flags: uint,
});

export const storagePoolDestroyArgsCodec: Codec<types.StoragePoolDestroyArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolDeleteArgsCodec: Codec<types.StoragePoolDeleteArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  flags: uint,
});

export const storagePoolUndefineArgsCodec: Codec<types.StoragePoolUndefineArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolRefreshArgsCodec: Codec<types.StoragePoolRefreshArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  flags: uint,
});

export const storagePoolLookupByNameArgsCodec: Codec<types.StoragePoolLookupByNameArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const storagePoolLookupByNameRetCodec: Codec<types.StoragePoolLookupByNameRet> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolLookupByUuidArgsCodec: Codec<types.StoragePoolLookupByUuidArgs> = /* @__PURE__ */ struct({
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const storagePoolLookupByUuidRetCodec: Codec<types.StoragePoolLookupByUuidRet> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storageVolCodec: Codec<types.StorageVol> = /* @__PURE__ */ struct({
  pool: /* @__PURE__ */ string(4194304),
  name: /* @__PURE__ */ string(4194304),
  key: /* @__PURE__ */ string(4194304),
});

export const storagePoolLookupByVolumeArgsCodec: Codec<types.StoragePoolLookupByVolumeArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storagePoolLookupByVolumeRetCodec: Codec<types.StoragePoolLookupByVolumeRet> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolGetInfoArgsCodec: Codec<types.StoragePoolGetInfoArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolGetInfoRetCodec: Codec<types.StoragePoolGetInfoRet> = /* @__PURE__ */ struct({
  state: uint,
  capacity: uhyper,
  allocation: uhyper,
  available: uhyper,
});

export const storagePoolGetXmlDescArgsCodec: Codec<types.StoragePoolGetXmlDescArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  flags: uint,
});

export const storagePoolGetXmlDescRetCodec: Codec<types.StoragePoolGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const storagePoolGetAutostartArgsCodec: Codec<types.StoragePoolGetAutostartArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolGetAutostartRetCodec: Codec<types.StoragePoolGetAutostartRet> = /* @__PURE__ */ struct({
  autostart: int,
});

export const storagePoolSetAutostartArgsCodec: Codec<types.StoragePoolSetAutostartArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  autostart: int,
});

export const storagePoolNumOfVolumesArgsCodec: Codec<types.StoragePoolNumOfVolumesArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolNumOfVolumesRetCodec: Codec<types.StoragePoolNumOfVolumesRet> = /* @__PURE__ */ struct({
  num: int,
});

export const storagePoolListVolumesArgsCodec: Codec<types.StoragePoolListVolumesArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  maxnames: int,
});

export const storagePoolListVolumesRetCodec: Codec<types.StoragePoolListVolumesRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const storageVolCreateXmlArgsCodec: Codec<types.StorageVolCreateXmlArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const storageVolCreateXmlRetCodec: Codec<types.StorageVolCreateXmlRet> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storageVolDeleteArgsCodec: Codec<types.StorageVolDeleteArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  flags: uint,
});

export const storageVolLookupByNameArgsCodec: Codec<types.StorageVolLookupByNameArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  name: /* @__PURE__ */ string(4194304),
});

export const storageVolLookupByNameRetCodec: Codec<types.StorageVolLookupByNameRet> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storageVolLookupByKeyArgsCodec: Codec<types.StorageVolLookupByKeyArgs> = /* @__PURE__ */ struct({
  key: /* @__PURE__ */ string(4194304),
});

export const storageVolLookupByKeyRetCodec: Codec<types.StorageVolLookupByKeyRet> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storageVolLookupByPathArgsCodec: Codec<types.StorageVolLookupByPathArgs> = /* @__PURE__ */ struct({
  path: /* @__PURE__ */ string(4194304),
});

export const storageVolLookupByPathRetCodec: Codec<types.StorageVolLookupByPathRet> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storageVolGetInfoArgsCodec: Codec<types.StorageVolGetInfoArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storageVolGetInfoRetCodec: Codec<types.StorageVolGetInfoRet> = /* @__PURE__ */ struct({
  type: int,
  capacity: uhyper,
  allocation: uhyper,
});

export const storageVolGetXmlDescArgsCodec: Codec<types.StorageVolGetXmlDescArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  flags: uint,
});

export const storageVolGetXmlDescRetCodec: Codec<types.StorageVolGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const storageVolGetPathArgsCodec: Codec<types.StorageVolGetPathArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const storageVolGetPathRetCodec: Codec<types.StorageVolGetPathRet> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeGetCellsFreeMemoryArgsCodec: Codec<types.NodeGetCellsFreeMemoryArgs> = /* @__PURE__ */ struct({
  startCell: int,
  maxcells: int,
});

export const nodeGetCellsFreeMemoryRetCodec: Codec<types.NodeGetCellsFreeMemoryRet> = /* @__PURE__ */ struct({
  cells: /* @__PURE__ */ array(1024, uhyper),
});

export const nodeGetFreeMemoryRetCodec: Codec<types.NodeGetFreeMemoryRet> = /* @__PURE__ */ struct({
  freeMem: uhyper,
});

export const domainBlockPeekArgsCodec: Codec<types.DomainBlockPeekArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  offset: uhyper,
  size: uint,
  flags: uint,
});

export const domainBlockPeekRetCodec: Codec<types.DomainBlockPeekRet> = /* @__PURE__ */ struct({
  buffer: /* @__PURE__ */ opaque(4194304),
});

export const domainMemoryPeekArgsCodec: Codec<types.DomainMemoryPeekArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  offset: uhyper,
  size: uint,
  flags: uint,
});

export const domainMemoryPeekRetCodec: Codec<types.DomainMemoryPeekRet> = /* @__PURE__ */ struct({
  buffer: /* @__PURE__ */ opaque(4194304),
});

export const connectDomainEventRegisterRetCodec: Codec<types.ConnectDomainEventRegisterRet> = /* @__PURE__ */ struct({
  cbRegistered: int,
});

export const connectDomainEventDeregisterRetCodec: Codec<types.ConnectDomainEventDeregisterRet> = /* @__PURE__ */ struct({
  cbRegistered: int,
});

export const domainMigratePrepare2ArgsCodec: Codec<types.DomainMigratePrepare2Args> = /* @__PURE__ */ struct({
  uriIn: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
  domXml: /* @__PURE__ */ string(4194304),
});

export const domainMigratePrepare2RetCodec: Codec<types.DomainMigratePrepare2Ret> = /* @__PURE__ */ struct({
  cookie: /* @__PURE__ */ opaque(4194304),
  uriOut: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const domainMigrateFinish2ArgsCodec: Codec<types.DomainMigrateFinish2Args> = /* @__PURE__ */ struct({
  dname: /* @__PURE__ */ string(4194304),
  cookie: /* @__PURE__ */ opaque(4194304),
  uri: /* @__PURE__ */ string(4194304),
  flags: uhyper,
  retcode: int,
});

export const domainMigrateFinish2RetCodec: Codec<types.DomainMigrateFinish2Ret> = /* @__PURE__ */ struct({
  ddom: domainCodec,
});

export const connectGetUriRetCodec: Codec<types.ConnectGetUriRet> = /* @__PURE__ */ struct({
  uri: /* @__PURE__ */ string(4194304),
});

export const nodeNumOfDevicesArgsCodec: Codec<types.NodeNumOfDevicesArgs> = /* @__PURE__ */ struct({
  cap: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const nodeNumOfDevicesRetCodec: Codec<types.NodeNumOfDevicesRet> = /* @__PURE__ */ struct({
  num: int,
});

export const nodeListDevicesArgsCodec: Codec<types.NodeListDevicesArgs> = /* @__PURE__ */ struct({
  cap: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  maxnames: int,
  flags: uint,
});

export const nodeListDevicesRetCodec: Codec<types.NodeListDevicesRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(65536, /* @__PURE__ */ string(4194304)),
});

export const nodeDeviceLookupByNameArgsCodec: Codec<types.NodeDeviceLookupByNameArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceCodec: Codec<types.NodeDevice> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceLookupByNameRetCodec: Codec<types.NodeDeviceLookupByNameRet> = /* @__PURE__ */ struct({
  dev: nodeDeviceCodec,
});

export const nodeDeviceGetXmlDescArgsCodec: Codec<types.NodeDeviceGetXmlDescArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nodeDeviceGetXmlDescRetCodec: Codec<types.NodeDeviceGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceGetParentArgsCodec: Codec<types.NodeDeviceGetParentArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceGetParentRetCodec: Codec<types.NodeDeviceGetParentRet> = /* @__PURE__ */ struct({
  parentName: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const nodeDeviceNumOfCapsArgsCodec: Codec<types.NodeDeviceNumOfCapsArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceNumOfCapsRetCodec: Codec<types.NodeDeviceNumOfCapsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const nodeDeviceListCapsArgsCodec: Codec<types.NodeDeviceListCapsArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  maxnames: int,
});

export const nodeDeviceListCapsRetCodec: Codec<types.NodeDeviceListCapsRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(65536, /* @__PURE__ */ string(4194304)),
});

export const nodeDeviceDettachArgsCodec: Codec<types.NodeDeviceDettachArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceReAttachArgsCodec: Codec<types.NodeDeviceReAttachArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceResetArgsCodec: Codec<types.NodeDeviceResetArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const domainGetSecurityLabelArgsCodec: Codec<types.DomainGetSecurityLabelArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetSecurityLabelRetCodec: Codec<types.DomainGetSecurityLabelRet> = /* @__PURE__ */ struct({
  label: /* @__PURE__ */ chars(4097),
  enforcing: int,
});

export const nodeGetSecurityModelRetCodec: Codec<types.NodeGetSecurityModelRet> = /* @__PURE__ */ struct({
  model: /* @__PURE__ */ chars(257),
  doi: /* @__PURE__ */ chars(257),
});

export const nodeDeviceCreateXmlArgsCodec: Codec<types.NodeDeviceCreateXmlArgs> = /* @__PURE__ */ struct({
  xmlDesc: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nodeDeviceCreateXmlRetCodec: Codec<types.NodeDeviceCreateXmlRet> = /* @__PURE__ */ struct({
  dev: nodeDeviceCodec,
});

export const nodeDeviceDestroyArgsCodec: Codec<types.NodeDeviceDestroyArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const storageVolCreateXmlFromArgsCodec: Codec<types.StorageVolCreateXmlFromArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  xml: /* @__PURE__ */ string(4194304),
  clonevol: storageVolCodec,
  flags: uint,
});

export const storageVolCreateXmlFromRetCodec: Codec<types.StorageVolCreateXmlFromRet> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
});

export const connectNumOfInterfacesRetCodec: Codec<types.ConnectNumOfInterfacesRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectListInterfacesArgsCodec: Codec<types.ConnectListInterfacesArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListInterfacesRetCodec: Codec<types.ConnectListInterfacesRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const interfaceLookupByNameArgsCodec: Codec<types.InterfaceLookupByNameArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const interfaceCodec: Codec<types.Interface> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  mac: /* @__PURE__ */ string(4194304),
});

export const interfaceLookupByNameRetCodec: Codec<types.InterfaceLookupByNameRet> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
});

export const interfaceLookupByMacStringArgsCodec: Codec<types.InterfaceLookupByMacStringArgs> = /* @__PURE__ */ struct({
  mac: /* @__PURE__ */ string(4194304),
});

export const interfaceLookupByMacStringRetCodec: Codec<types.InterfaceLookupByMacStringRet> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
});

export const interfaceGetXmlDescArgsCodec: Codec<types.InterfaceGetXmlDescArgs> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
  flags: uint,
});

export const interfaceGetXmlDescRetCodec: Codec<types.InterfaceGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const interfaceDefineXmlArgsCodec: Codec<types.InterfaceDefineXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const interfaceDefineXmlRetCodec: Codec<types.InterfaceDefineXmlRet> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
});

export const interfaceUndefineArgsCodec: Codec<types.InterfaceUndefineArgs> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
});

export const interfaceCreateArgsCodec: Codec<types.InterfaceCreateArgs> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
  flags: uint,
});

export const interfaceDestroyArgsCodec: Codec<types.InterfaceDestroyArgs> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
  flags: uint,
});

export const connectDomainXmlFromNativeArgsCodec: Codec<types.ConnectDomainXmlFromNativeArgs> = /* @__PURE__ */ struct({
  nativeFormat: /* @__PURE__ */ string(4194304),
  nativeConfig: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const connectDomainXmlFromNativeRetCodec: Codec<types.ConnectDomainXmlFromNativeRet> = /* @__PURE__ */ struct({
  domainXml: /* @__PURE__ */ string(4194304),
});

export const connectDomainXmlToNativeArgsCodec: Codec<types.ConnectDomainXmlToNativeArgs> = /* @__PURE__ */ struct({
  nativeFormat: /* @__PURE__ */ string(4194304),
  domainXml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const connectDomainXmlToNativeRetCodec: Codec<types.ConnectDomainXmlToNativeRet> = /* @__PURE__ */ struct({
  nativeConfig: /* @__PURE__ */ string(4194304),
});

export const connectNumOfDefinedInterfacesRetCodec: Codec<types.ConnectNumOfDefinedInterfacesRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectListDefinedInterfacesArgsCodec: Codec<types.ConnectListDefinedInterfacesArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListDefinedInterfacesRetCodec: Codec<types.ConnectListDefinedInterfacesRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const connectNumOfSecretsRetCodec: Codec<types.ConnectNumOfSecretsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectListSecretsArgsCodec: Codec<types.ConnectListSecretsArgs> = /* @__PURE__ */ struct({
  maxuuids: int,
});

export const connectListSecretsRetCodec: Codec<types.ConnectListSecretsRet> = /* @__PURE__ */ struct({
  uuids: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const secretLookupByUuidArgsCodec: Codec<types.SecretLookupByUuidArgs> = /* @__PURE__ */ struct({
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const secretCodec: Codec<types.Secret> = /* @__PURE__ */ struct({
  uuid: /* @__PURE__ */ fixedOpaque(16),
  usageType: int,
  usageId: /* @__PURE__ */ string(4194304),
});

export const secretLookupByUuidRetCodec: Codec<types.SecretLookupByUuidRet> = /* @__PURE__ */ struct({
  secret: secretCodec,
});

export const secretDefineXmlArgsCodec: Codec<types.SecretDefineXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const secretDefineXmlRetCodec: Codec<types.SecretDefineXmlRet> = /* @__PURE__ */ struct({
  secret: secretCodec,
});

export const secretGetXmlDescArgsCodec: Codec<types.SecretGetXmlDescArgs> = /* @__PURE__ */ struct({
  secret: secretCodec,
  flags: uint,
});

export const secretGetXmlDescRetCodec: Codec<types.SecretGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const secretSetValueArgsCodec: Codec<types.SecretSetValueArgs> = /* @__PURE__ */ struct({
  secret: secretCodec,
  value: /* @__PURE__ */ opaque(65536),
  flags: uint,
});

export const secretGetValueArgsCodec: Codec<types.SecretGetValueArgs> = /* @__PURE__ */ struct({
  secret: secretCodec,
  flags: uint,
});

export const secretGetValueRetCodec: Codec<types.SecretGetValueRet> = /* @__PURE__ */ struct({
  value: /* @__PURE__ */ opaque(65536),
});

export const secretUndefineArgsCodec: Codec<types.SecretUndefineArgs> = /* @__PURE__ */ struct({
  secret: secretCodec,
});

export const secretLookupByUsageArgsCodec: Codec<types.SecretLookupByUsageArgs> = /* @__PURE__ */ struct({
  usageType: int,
  usageId: /* @__PURE__ */ string(4194304),
});

export const secretLookupByUsageRetCodec: Codec<types.SecretLookupByUsageRet> = /* @__PURE__ */ struct({
  secret: secretCodec,
});

export const domainMigratePrepareTunnelArgsCodec: Codec<types.DomainMigratePrepareTunnelArgs> = /* @__PURE__ */ struct({
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
  domXml: /* @__PURE__ */ string(4194304),
});

export const connectIsSecureRetCodec: Codec<types.ConnectIsSecureRet> = /* @__PURE__ */ struct({
  secure: int,
});

export const domainIsActiveArgsCodec: Codec<types.DomainIsActiveArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainIsActiveRetCodec: Codec<types.DomainIsActiveRet> = /* @__PURE__ */ struct({
  active: int,
});

export const domainIsPersistentArgsCodec: Codec<types.DomainIsPersistentArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainIsPersistentRetCodec: Codec<types.DomainIsPersistentRet> = /* @__PURE__ */ struct({
  persistent: int,
});

export const networkIsActiveArgsCodec: Codec<types.NetworkIsActiveArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkIsActiveRetCodec: Codec<types.NetworkIsActiveRet> = /* @__PURE__ */ struct({
  active: int,
});

export const networkIsPersistentArgsCodec: Codec<types.NetworkIsPersistentArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const networkIsPersistentRetCodec: Codec<types.NetworkIsPersistentRet> = /* @__PURE__ */ struct({
  persistent: int,
});

export const storagePoolIsActiveArgsCodec: Codec<types.StoragePoolIsActiveArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolIsActiveRetCodec: Codec<types.StoragePoolIsActiveRet> = /* @__PURE__ */ struct({
  active: int,
});

export const storagePoolIsPersistentArgsCodec: Codec<types.StoragePoolIsPersistentArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const storagePoolIsPersistentRetCodec: Codec<types.StoragePoolIsPersistentRet> = /* @__PURE__ */ struct({
  persistent: int,
});

export const interfaceIsActiveArgsCodec: Codec<types.InterfaceIsActiveArgs> = /* @__PURE__ */ struct({
  iface: interfaceCodec,
});

export const interfaceIsActiveRetCodec: Codec<types.InterfaceIsActiveRet> = /* @__PURE__ */ struct({
  active: int,
});

export const connectGetLibVersionRetCodec: Codec<types.ConnectGetLibVersionRet> = /* @__PURE__ */ struct({
  libVer: uhyper,
});

export const connectCompareCpuArgsCodec: Codec<types.ConnectCompareCpuArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const connectCompareCpuRetCodec: Codec<types.ConnectCompareCpuRet> = /* @__PURE__ */ struct({
  result: int,
});

export const domainMemoryStatsArgsCodec: Codec<types.DomainMemoryStatsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  maxStats: uint,
  flags: uint,
});

export const domainMemoryStatCodec: Codec<types.DomainMemoryStat> = /* @__PURE__ */ struct({
  tag: int,
  val: uhyper,
});

export const domainMemoryStatsRetCodec: Codec<types.DomainMemoryStatsRet> = /* @__PURE__ */ struct({
  stats: /* @__PURE__ */ array(1024, domainMemoryStatCodec),
});

export const domainAttachDeviceFlagsArgsCodec: Codec<types.DomainAttachDeviceFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainDetachDeviceFlagsArgsCodec: Codec<types.DomainDetachDeviceFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const connectBaselineCpuArgsCodec: Codec<types.ConnectBaselineCpuArgs> = /* @__PURE__ */ struct({
  xmlCPUs: /* @__PURE__ */ array(256, /* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const connectBaselineCpuRetCodec: Codec<types.ConnectBaselineCpuRet> = /* @__PURE__ */ struct({
  cpu: /* @__PURE__ */ string(4194304),
});

export const domainGetJobInfoArgsCodec: Codec<types.DomainGetJobInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetJobInfoRetCodec: Codec<types.DomainGetJobInfoRet> = /* @__PURE__ */ struct({
  type: int,
  timeElapsed: uhyper,
  timeRemaining: uhyper,
  dataTotal: uhyper,
  dataProcessed: uhyper,
  dataRemaining: uhyper,
  memTotal: uhyper,
  memProcessed: uhyper,
  memRemaining: uhyper,
  fileTotal: uhyper,
  fileProcessed: uhyper,
  fileRemaining: uhyper,
});

export const domainAbortJobArgsCodec: Codec<types.DomainAbortJobArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const storageVolWipeArgsCodec: Codec<types.StorageVolWipeArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  flags: uint,
});

export const domainMigrateSetMaxDowntimeArgsCodec: Codec<types.DomainMigrateSetMaxDowntimeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  downtime: uhyper,
  flags: uint,
});

export const connectDomainEventRegisterAnyArgsCodec: Codec<types.ConnectDomainEventRegisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
});

export const connectDomainEventDeregisterAnyArgsCodec: Codec<types.ConnectDomainEventDeregisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
});

export const domainUpdateDeviceFlagsArgsCodec: Codec<types.DomainUpdateDeviceFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nwfilterLookupByNameArgsCodec: Codec<types.NwfilterLookupByNameArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nwfilterCodec: Codec<types.Nwfilter> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const nwfilterLookupByNameRetCodec: Codec<types.NwfilterLookupByNameRet> = /* @__PURE__ */ struct({
  nwfilter: nwfilterCodec,
});

export const nwfilterLookupByUuidArgsCodec: Codec<types.NwfilterLookupByUuidArgs> = /* @__PURE__ */ struct({
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const nwfilterLookupByUuidRetCodec: Codec<types.NwfilterLookupByUuidRet> = /* @__PURE__ */ struct({
  nwfilter: nwfilterCodec,
});

export const nwfilterGetXmlDescArgsCodec: Codec<types.NwfilterGetXmlDescArgs> = /* @__PURE__ */ struct({
  nwfilter: nwfilterCodec,
  flags: uint,
});

export const nwfilterGetXmlDescRetCodec: Codec<types.NwfilterGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const connectNumOfNwfiltersRetCodec: Codec<types.ConnectNumOfNwfiltersRet> = /* @__PURE__ */ struct({
  num: int,
});

export const connectListNwfiltersArgsCodec: Codec<types.ConnectListNwfiltersArgs> = /* @__PURE__ */ struct({
  maxnames: int,
});

export const connectListNwfiltersRetCodec: Codec<types.ConnectListNwfiltersRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const nwfilterDefineXmlArgsCodec: Codec<types.NwfilterDefineXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const nwfilterDefineXmlRetCodec: Codec<types.NwfilterDefineXmlRet> = /* @__PURE__ */ struct({
  nwfilter: nwfilterCodec,
});

export const nwfilterUndefineArgsCodec: Codec<types.NwfilterUndefineArgs> = /* @__PURE__ */ struct({
  nwfilter: nwfilterCodec,
});

export const domainManagedSaveArgsCodec: Codec<types.DomainManagedSaveArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainHasManagedSaveImageArgsCodec: Codec<types.DomainHasManagedSaveImageArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainHasManagedSaveImageRetCodec: Codec<types.DomainHasManagedSaveImageRet> = /* @__PURE__ */ struct({
  result: int,
});

export const domainManagedSaveRemoveArgsCodec: Codec<types.DomainManagedSaveRemoveArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSnapshotCreateXmlArgsCodec: Codec<types.DomainSnapshotCreateXmlArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xmlDesc: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainSnapshotCodec: Codec<types.DomainSnapshot> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  dom: domainCodec,
});

export const domainSnapshotCreateXmlRetCodec: Codec<types.DomainSnapshotCreateXmlRet> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
});

export const domainSnapshotGetXmlDescArgsCodec: Codec<types.DomainSnapshotGetXmlDescArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainSnapshotGetXmlDescRetCodec: Codec<types.DomainSnapshotGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainSnapshotNumArgsCodec: Codec<types.DomainSnapshotNumArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSnapshotNumRetCodec: Codec<types.DomainSnapshotNumRet> = /* @__PURE__ */ struct({
  num: int,
});

export const domainSnapshotListNamesArgsCodec: Codec<types.DomainSnapshotListNamesArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  maxnames: int,
  flags: uint,
});

export const domainSnapshotListNamesRetCodec: Codec<types.DomainSnapshotListNamesRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const domainSnapshotLookupByNameArgsCodec: Codec<types.DomainSnapshotLookupByNameArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  name: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainSnapshotLookupByNameRetCodec: Codec<types.DomainSnapshotLookupByNameRet> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
});

export const domainHasCurrentSnapshotArgsCodec: Codec<types.DomainHasCurrentSnapshotArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainHasCurrentSnapshotRetCodec: Codec<types.DomainHasCurrentSnapshotRet> = /* @__PURE__ */ struct({
  result: int,
});

export const domainSnapshotCurrentArgsCodec: Codec<types.DomainSnapshotCurrentArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSnapshotCurrentRetCodec: Codec<types.DomainSnapshotCurrentRet> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
});

export const domainRevertToSnapshotArgsCodec: Codec<types.DomainRevertToSnapshotArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainSnapshotDeleteArgsCodec: Codec<types.DomainSnapshotDeleteArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainGetBlockInfoArgsCodec: Codec<types.DomainGetBlockInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainGetBlockInfoRetCodec: Codec<types.DomainGetBlockInfoRet> = /* @__PURE__ */ struct({
  allocation: uhyper,
  capacity: uhyper,
  physical: uhyper,
});

export const domainCreateWithFlagsArgsCodec: Codec<types.DomainCreateWithFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainCreateWithFlagsRetCodec: Codec<types.DomainCreateWithFlagsRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainSetMemoryParametersArgsCodec: Codec<types.DomainSetMemoryParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const domainGetMemoryParametersArgsCodec: Codec<types.DomainGetMemoryParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nparams: int,
  flags: uint,
});

export const domainGetMemoryParametersRetCodec: Codec<types.DomainGetMemoryParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
  nparams: int,
});

export const domainSetVcpusFlagsArgsCodec: Codec<types.DomainSetVcpusFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nvcpus: uint,
  flags: uint,
});

export const domainGetVcpusFlagsArgsCodec: Codec<types.DomainGetVcpusFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetVcpusFlagsRetCodec: Codec<types.DomainGetVcpusFlagsRet> = /* @__PURE__ */ struct({
  num: int,
});

export const domainOpenConsoleArgsCodec: Codec<types.DomainOpenConsoleArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  devName: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainIsUpdatedArgsCodec: Codec<types.DomainIsUpdatedArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainIsUpdatedRetCodec: Codec<types.DomainIsUpdatedRet> = /* @__PURE__ */ struct({
  updated: int,
});

export const connectGetSysinfoArgsCodec: Codec<types.ConnectGetSysinfoArgs> = /* @__PURE__ */ struct({
  flags: uint,
});

export const connectGetSysinfoRetCodec: Codec<types.ConnectGetSysinfoRet> = /* @__PURE__ */ struct({
  sysinfo: /* @__PURE__ */ string(4194304),
});

export const domainSetMemoryFlagsArgsCodec: Codec<types.DomainSetMemoryFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  memory: uhyper,
  flags: uint,
});

export const domainSetBlkioParametersArgsCodec: Codec<types.DomainSetBlkioParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const domainGetBlkioParametersArgsCodec: Codec<types.DomainGetBlkioParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nparams: int,
  flags: uint,
});

export const domainGetBlkioParametersRetCodec: Codec<types.DomainGetBlkioParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
  nparams: int,
});

export const domainMigrateSetMaxSpeedArgsCodec: Codec<types.DomainMigrateSetMaxSpeedArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  bandwidth: uhyper,
  flags: uint,
});

export const storageVolUploadArgsCodec: Codec<types.StorageVolUploadArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  offset: uhyper,
  length: uhyper,
  flags: uint,
});

export const storageVolDownloadArgsCodec: Codec<types.StorageVolDownloadArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  offset: uhyper,
  length: uhyper,
  flags: uint,
});

export const domainInjectNmiArgsCodec: Codec<types.DomainInjectNmiArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainScreenshotArgsCodec: Codec<types.DomainScreenshotArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  screen: uint,
  flags: uint,
});

export const domainScreenshotRetCodec: Codec<types.DomainScreenshotRet> = /* @__PURE__ */ struct({
  mime: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const domainGetStateArgsCodec: Codec<types.DomainGetStateArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetStateRetCodec: Codec<types.DomainGetStateRet> = /* @__PURE__ */ struct({
  state: int,
  reason: int,
});

export const domainMigrateBegin3ArgsCodec: Codec<types.DomainMigrateBegin3Args> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xmlin: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
});

export const domainMigrateBegin3RetCodec: Codec<types.DomainMigrateBegin3Ret> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
  xml: /* @__PURE__ */ string(4194304),
});

export const domainMigratePrepare3ArgsCodec: Codec<types.DomainMigratePrepare3Args> = /* @__PURE__ */ struct({
  cookieIn: /* @__PURE__ */ opaque(4194304),
  uriIn: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
  domXml: /* @__PURE__ */ string(4194304),
});

export const domainMigratePrepare3RetCodec: Codec<types.DomainMigratePrepare3Ret> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
  uriOut: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const domainMigratePrepareTunnel3ArgsCodec: Codec<types.DomainMigratePrepareTunnel3Args> = /* @__PURE__ */ struct({
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
  domXml: /* @__PURE__ */ string(4194304),
});

export const domainMigratePrepareTunnel3RetCodec: Codec<types.DomainMigratePrepareTunnel3Ret> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
});

export const domainMigratePerform3ArgsCodec: Codec<types.DomainMigratePerform3Args> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xmlin: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  dconnuri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  uri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uhyper,
  dname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  resource: uhyper,
});

export const domainMigratePerform3RetCodec: Codec<types.DomainMigratePerform3Ret> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
});

export const domainMigrateFinish3ArgsCodec: Codec<types.DomainMigrateFinish3Args> = /* @__PURE__ */ struct({
  dname: /* @__PURE__ */ string(4194304),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  dconnuri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  uri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uhyper,
  cancelled: int,
});

export const domainMigrateFinish3RetCodec: Codec<types.DomainMigrateFinish3Ret> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cookieOut: /* @__PURE__ */ opaque(4194304),
});

export const domainMigrateConfirm3ArgsCodec: Codec<types.DomainMigrateConfirm3Args> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uhyper,
  cancelled: int,
});

export const domainSetSchedulerParametersFlagsArgsCodec: Codec<types.DomainSetSchedulerParametersFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const interfaceChangeBeginArgsCodec: Codec<types.InterfaceChangeBeginArgs> = /* @__PURE__ */ struct({
  flags: uint,
});

export const interfaceChangeCommitArgsCodec: Codec<types.InterfaceChangeCommitArgs> = /* @__PURE__ */ struct({
  flags: uint,
});

export const interfaceChangeRollbackArgsCodec: Codec<types.InterfaceChangeRollbackArgs> = /* @__PURE__ */ struct({
  flags: uint,
});

export const domainGetSchedulerParametersFlagsArgsCodec: Codec<types.DomainGetSchedulerParametersFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nparams: int,
  flags: uint,
});

export const domainGetSchedulerParametersFlagsRetCodec: Codec<types.DomainGetSchedulerParametersFlagsRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
});

export const domainPinVcpuFlagsArgsCodec: Codec<types.DomainPinVcpuFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  vcpu: uint,
  cpumap: /* @__PURE__ */ opaque(2048),
  flags: uint,
});

export const domainSendKeyArgsCodec: Codec<types.DomainSendKeyArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  codeset: uint,
  holdtime: uint,
  keycodes: /* @__PURE__ */ array(16, uint),
  flags: uint,
});

export const nodeGetCpuStatsArgsCodec: Codec<types.NodeGetCpuStatsArgs> = /* @__PURE__ */ struct({
  cpuNum: int,
  nparams: int,
  flags: uint,
});

export const nodeGetCpuStatsCodec: Codec<types.NodeGetCpuStats> = /* @__PURE__ */ struct({
  field: /* @__PURE__ */ string(4194304),
  value: uhyper,
});

export const nodeGetCpuStatsRetCodec: Codec<types.NodeGetCpuStatsRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, nodeGetCpuStatsCodec),
  nparams: int,
});

export const nodeGetMemoryStatsArgsCodec: Codec<types.NodeGetMemoryStatsArgs> = /* @__PURE__ */ struct({
  nparams: int,
  cellNum: int,
  flags: uint,
});

export const nodeGetMemoryStatsCodec: Codec<types.NodeGetMemoryStats> = /* @__PURE__ */ struct({
  field: /* @__PURE__ */ string(4194304),
  value: uhyper,
});

export const nodeGetMemoryStatsRetCodec: Codec<types.NodeGetMemoryStatsRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, nodeGetMemoryStatsCodec),
  nparams: int,
});

export const domainGetControlInfoArgsCodec: Codec<types.DomainGetControlInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetControlInfoRetCodec: Codec<types.DomainGetControlInfoRet> = /* @__PURE__ */ struct({
  state: uint,
  details: uint,
  stateTime: uhyper,
});

export const domainGetVcpuPinInfoArgsCodec: Codec<types.DomainGetVcpuPinInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  ncpumaps: int,
  maplen: int,
  flags: uint,
});

export const domainGetVcpuPinInfoRetCodec: Codec<types.DomainGetVcpuPinInfoRet> = /* @__PURE__ */ struct({
  cpumaps: /* @__PURE__ */ opaque(8388608),
  num: int,
});

export const domainUndefineFlagsArgsCodec: Codec<types.DomainUndefineFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSaveFlagsArgsCodec: Codec<types.DomainSaveFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  to: /* @__PURE__ */ string(4194304),
  dxml: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainRestoreFlagsArgsCodec: Codec<types.DomainRestoreFlagsArgs> = /* @__PURE__ */ struct({
  from: /* @__PURE__ */ string(4194304),
  dxml: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainDestroyFlagsArgsCodec: Codec<types.DomainDestroyFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSaveImageGetXmlDescArgsCodec: Codec<types.DomainSaveImageGetXmlDescArgs> = /* @__PURE__ */ struct({
  file: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainSaveImageGetXmlDescRetCodec: Codec<types.DomainSaveImageGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainSaveImageDefineXmlArgsCodec: Codec<types.DomainSaveImageDefineXmlArgs> = /* @__PURE__ */ struct({
  file: /* @__PURE__ */ string(4194304),
  dxml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainBlockJobAbortArgsCodec: Codec<types.DomainBlockJobAbortArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainGetBlockJobInfoArgsCodec: Codec<types.DomainGetBlockJobInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainGetBlockJobInfoRetCodec: Codec<types.DomainGetBlockJobInfoRet> = /* @__PURE__ */ struct({
  found: int,
  type: int,
  bandwidth: uhyper,
  cur: uhyper,
  end: uhyper,
});

export const domainBlockJobSetSpeedArgsCodec: Codec<types.DomainBlockJobSetSpeedArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  bandwidth: uhyper,
  flags: uint,
});

export const domainBlockPullArgsCodec: Codec<types.DomainBlockPullArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  bandwidth: uhyper,
  flags: uint,
});

export const domainMigrateGetMaxSpeedArgsCodec: Codec<types.DomainMigrateGetMaxSpeedArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainMigrateGetMaxSpeedRetCodec: Codec<types.DomainMigrateGetMaxSpeedRet> = /* @__PURE__ */ struct({
  bandwidth: uhyper,
});

export const domainBlockStatsFlagsArgsCodec: Codec<types.DomainBlockStatsFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  nparams: int,
  flags: uint,
});

export const domainBlockStatsFlagsRetCodec: Codec<types.DomainBlockStatsFlagsRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
  nparams: int,
});

export const domainSnapshotGetParentArgsCodec: Codec<types.DomainSnapshotGetParentArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainSnapshotGetParentRetCodec: Codec<types.DomainSnapshotGetParentRet> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
});

export const domainResetArgsCodec: Codec<types.DomainResetArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSnapshotNumChildrenArgsCodec: Codec<types.DomainSnapshotNumChildrenArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainSnapshotNumChildrenRetCodec: Codec<types.DomainSnapshotNumChildrenRet> = /* @__PURE__ */ struct({
  num: int,
});

export const domainSnapshotListChildrenNamesArgsCodec: Codec<types.DomainSnapshotListChildrenNamesArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  maxnames: int,
  flags: uint,
});

export const domainSnapshotListChildrenNamesRetCodec: Codec<types.DomainSnapshotListChildrenNamesRet> = /* @__PURE__ */ struct({
  names: /* @__PURE__ */ array(16384, /* @__PURE__ */ string(4194304)),
});

export const domainOpenGraphicsArgsCodec: Codec<types.DomainOpenGraphicsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  idx: uint,
  flags: uint,
});

export const nodeSuspendForDurationArgsCodec: Codec<types.NodeSuspendForDurationArgs> = /* @__PURE__ */ struct({
  target: uint,
  duration: uhyper,
  flags: uint,
});

export const domainBlockResizeArgsCodec: Codec<types.DomainBlockResizeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  disk: /* @__PURE__ */ string(4194304),
  size: uhyper,
  flags: uint,
});

export const domainSetBlockIoTuneArgsCodec: Codec<types.DomainSetBlockIoTuneArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  disk: /* @__PURE__ */ string(4194304),
  params: /* @__PURE__ */ array(32, typedParamCodec),
  flags: uint,
});

export const domainGetBlockIoTuneArgsCodec: Codec<types.DomainGetBlockIoTuneArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  disk: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  nparams: int,
  flags: uint,
});

export const domainGetBlockIoTuneRetCodec: Codec<types.DomainGetBlockIoTuneRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(32, typedParamCodec),
  nparams: int,
});

export const domainSetNumaParametersArgsCodec: Codec<types.DomainSetNumaParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const domainGetNumaParametersArgsCodec: Codec<types.DomainGetNumaParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nparams: int,
  flags: uint,
});

export const domainGetNumaParametersRetCodec: Codec<types.DomainGetNumaParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
  nparams: int,
});

export const domainSetInterfaceParametersArgsCodec: Codec<types.DomainSetInterfaceParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  device: /* @__PURE__ */ string(4194304),
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const domainGetInterfaceParametersArgsCodec: Codec<types.DomainGetInterfaceParametersArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  device: /* @__PURE__ */ string(4194304),
  nparams: int,
  flags: uint,
});

export const domainGetInterfaceParametersRetCodec: Codec<types.DomainGetInterfaceParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
  nparams: int,
});

export const domainShutdownFlagsArgsCodec: Codec<types.DomainShutdownFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const storageVolWipePatternArgsCodec: Codec<types.StorageVolWipePatternArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  algorithm: uint,
  flags: uint,
});

export const storageVolResizeArgsCodec: Codec<types.StorageVolResizeArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  capacity: uhyper,
  flags: uint,
});

export const domainPmSuspendForDurationArgsCodec: Codec<types.DomainPmSuspendForDurationArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  target: uint,
  duration: uhyper,
  flags: uint,
});

export const domainGetCpuStatsArgsCodec: Codec<types.DomainGetCpuStatsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  nparams: uint,
  startCpu: int,
  ncpus: uint,
  flags: uint,
});

export const domainGetCpuStatsRetCodec: Codec<types.DomainGetCpuStatsRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(2048, typedParamCodec),
  nparams: int,
});

export const domainGetDiskErrorsArgsCodec: Codec<types.DomainGetDiskErrorsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  maxerrors: uint,
  flags: uint,
});

export const domainDiskErrorCodec: Codec<types.DomainDiskError> = /* @__PURE__ */ struct({
  disk: /* @__PURE__ */ string(4194304),
  error: int,
});

export const domainGetDiskErrorsRetCodec: Codec<types.DomainGetDiskErrorsRet> = /* @__PURE__ */ struct({
  errors: /* @__PURE__ */ array(256, domainDiskErrorCodec),
  nerrors: int,
});

export const domainSetMetadataArgsCodec: Codec<types.DomainSetMetadataArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  type: int,
  metadata: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  key: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  uri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainGetMetadataArgsCodec: Codec<types.DomainGetMetadataArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  type: int,
  uri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainGetMetadataRetCodec: Codec<types.DomainGetMetadataRet> = /* @__PURE__ */ struct({
  metadata: /* @__PURE__ */ string(4194304),
});

export const domainBlockRebaseArgsCodec: Codec<types.DomainBlockRebaseArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  base: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  bandwidth: uhyper,
  flags: uint,
});

export const domainPmWakeupArgsCodec: Codec<types.DomainPmWakeupArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainSnapshotIsCurrentArgsCodec: Codec<types.DomainSnapshotIsCurrentArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainSnapshotIsCurrentRetCodec: Codec<types.DomainSnapshotIsCurrentRet> = /* @__PURE__ */ struct({
  current: int,
});

export const domainSnapshotHasMetadataArgsCodec: Codec<types.DomainSnapshotHasMetadataArgs> = /* @__PURE__ */ struct({
  snap: domainSnapshotCodec,
  flags: uint,
});

export const domainSnapshotHasMetadataRetCodec: Codec<types.DomainSnapshotHasMetadataRet> = /* @__PURE__ */ struct({
  metadata: int,
});

export const connectListAllDomainsArgsCodec: Codec<types.ConnectListAllDomainsArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllDomainsRetCodec: Codec<types.ConnectListAllDomainsRet> = /* @__PURE__ */ struct({
  domains: /* @__PURE__ */ array(16384, domainCodec),
  ret: uint,
});

export const domainListAllSnapshotsArgsCodec: Codec<types.DomainListAllSnapshotsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  needResults: int,
  flags: uint,
});

export const domainListAllSnapshotsRetCodec: Codec<types.DomainListAllSnapshotsRet> = /* @__PURE__ */ struct({
  snapshots: /* @__PURE__ */ array(16384, domainSnapshotCodec),
  ret: int,
});

export const domainSnapshotListAllChildrenArgsCodec: Codec<types.DomainSnapshotListAllChildrenArgs> = /* @__PURE__ */ struct({
  snapshot: domainSnapshotCodec,
  needResults: int,
  flags: uint,
});

export const domainSnapshotListAllChildrenRetCodec: Codec<types.DomainSnapshotListAllChildrenRet> = /* @__PURE__ */ struct({
  snapshots: /* @__PURE__ */ array(16384, domainSnapshotCodec),
  ret: int,
});

export const domainGetHostnameArgsCodec: Codec<types.DomainGetHostnameArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetHostnameRetCodec: Codec<types.DomainGetHostnameRet> = /* @__PURE__ */ struct({
  hostname: /* @__PURE__ */ string(4194304),
});

export const domainGetSecurityLabelListArgsCodec: Codec<types.DomainGetSecurityLabelListArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetSecurityLabelListRetCodec: Codec<types.DomainGetSecurityLabelListRet> = /* @__PURE__ */ struct({
  labels: /* @__PURE__ */ array(64, domainGetSecurityLabelRetCodec),
  ret: int,
});

export const domainPinEmulatorArgsCodec: Codec<types.DomainPinEmulatorArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cpumap: /* @__PURE__ */ opaque(2048),
  flags: uint,
});

export const domainGetEmulatorPinInfoArgsCodec: Codec<types.DomainGetEmulatorPinInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  maplen: int,
  flags: uint,
});

export const domainGetEmulatorPinInfoRetCodec: Codec<types.DomainGetEmulatorPinInfoRet> = /* @__PURE__ */ struct({
  cpumaps: /* @__PURE__ */ opaque(8388608),
  ret: int,
});

export const connectListAllStoragePoolsArgsCodec: Codec<types.ConnectListAllStoragePoolsArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllStoragePoolsRetCodec: Codec<types.ConnectListAllStoragePoolsRet> = /* @__PURE__ */ struct({
  pools: /* @__PURE__ */ array(16384, storagePoolCodec),
  ret: uint,
});

export const storagePoolListAllVolumesArgsCodec: Codec<types.StoragePoolListAllVolumesArgs> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
  needResults: int,
  flags: uint,
});

export const storagePoolListAllVolumesRetCodec: Codec<types.StoragePoolListAllVolumesRet> = /* @__PURE__ */ struct({
  vols: /* @__PURE__ */ array(16384, storageVolCodec),
  ret: uint,
});

export const connectListAllNetworksArgsCodec: Codec<types.ConnectListAllNetworksArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllNetworksRetCodec: Codec<types.ConnectListAllNetworksRet> = /* @__PURE__ */ struct({
  nets: /* @__PURE__ */ array(16384, networkCodec),
  ret: uint,
});

export const connectListAllInterfacesArgsCodec: Codec<types.ConnectListAllInterfacesArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllInterfacesRetCodec: Codec<types.ConnectListAllInterfacesRet> = /* @__PURE__ */ struct({
  ifaces: /* @__PURE__ */ array(16384, interfaceCodec),
  ret: uint,
});

export const connectListAllNodeDevicesArgsCodec: Codec<types.ConnectListAllNodeDevicesArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllNodeDevicesRetCodec: Codec<types.ConnectListAllNodeDevicesRet> = /* @__PURE__ */ struct({
  devices: /* @__PURE__ */ array(65536, nodeDeviceCodec),
  ret: uint,
});

export const connectListAllNwfiltersArgsCodec: Codec<types.ConnectListAllNwfiltersArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllNwfiltersRetCodec: Codec<types.ConnectListAllNwfiltersRet> = /* @__PURE__ */ struct({
  filters: /* @__PURE__ */ array(16384, nwfilterCodec),
  ret: uint,
});

export const connectListAllSecretsArgsCodec: Codec<types.ConnectListAllSecretsArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllSecretsRetCodec: Codec<types.ConnectListAllSecretsRet> = /* @__PURE__ */ struct({
  secrets: /* @__PURE__ */ array(16384, secretCodec),
  ret: uint,
});

export const nodeSetMemoryParametersArgsCodec: Codec<types.NodeSetMemoryParametersArgs> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const nodeGetMemoryParametersArgsCodec: Codec<types.NodeGetMemoryParametersArgs> = /* @__PURE__ */ struct({
  nparams: int,
  flags: uint,
});

export const nodeGetMemoryParametersRetCodec: Codec<types.NodeGetMemoryParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  nparams: int,
});

export const domainBlockCommitArgsCodec: Codec<types.DomainBlockCommitArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  disk: /* @__PURE__ */ string(4194304),
  base: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  top: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  bandwidth: uhyper,
  flags: uint,
});

export const networkUpdateArgsCodec: Codec<types.NetworkUpdateArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
  command: uint,
  section: uint,
  parentIndex: int,
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nodeGetCpuMapArgsCodec: Codec<types.NodeGetCpuMapArgs> = /* @__PURE__ */ struct({
  needMap: int,
  needOnline: int,
  flags: uint,
});

export const nodeGetCpuMapRetCodec: Codec<types.NodeGetCpuMapRet> = /* @__PURE__ */ struct({
  cpumap: /* @__PURE__ */ opaque(2048),
  online: uint,
  ret: int,
});

export const domainFstrimArgsCodec: Codec<types.DomainFstrimArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  mountPoint: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  minimum: uhyper,
  flags: uint,
});

export const domainSendProcessSignalArgsCodec: Codec<types.DomainSendProcessSignalArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  pidValue: hyper,
  signum: uint,
  flags: uint,
});

export const domainOpenChannelArgsCodec: Codec<types.DomainOpenChannelArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  name: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const nodeDeviceLookupScsiHostByWwnArgsCodec: Codec<types.NodeDeviceLookupScsiHostByWwnArgs> = /* @__PURE__ */ struct({
  wwnn: /* @__PURE__ */ string(4194304),
  wwpn: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nodeDeviceLookupScsiHostByWwnRetCodec: Codec<types.NodeDeviceLookupScsiHostByWwnRet> = /* @__PURE__ */ struct({
  dev: nodeDeviceCodec,
});

export const domainGetJobStatsArgsCodec: Codec<types.DomainGetJobStatsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetJobStatsRetCodec: Codec<types.DomainGetJobStatsRet> = /* @__PURE__ */ struct({
  type: int,
  params: /* @__PURE__ */ array(64, typedParamCodec),
});

export const domainMigrateGetCompressionCacheArgsCodec: Codec<types.DomainMigrateGetCompressionCacheArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainMigrateGetCompressionCacheRetCodec: Codec<types.DomainMigrateGetCompressionCacheRet> = /* @__PURE__ */ struct({
  cacheSize: uhyper,
});

export const domainMigrateSetCompressionCacheArgsCodec: Codec<types.DomainMigrateSetCompressionCacheArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cacheSize: uhyper,
  flags: uint,
});

export const nodeDeviceDetachFlagsArgsCodec: Codec<types.NodeDeviceDetachFlagsArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  driverName: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainMigrateBegin3ParamsArgsCodec: Codec<types.DomainMigrateBegin3ParamsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const domainMigrateBegin3ParamsRetCodec: Codec<types.DomainMigrateBegin3ParamsRet> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
  xml: /* @__PURE__ */ string(4194304),
});

export const domainMigratePrepare3ParamsArgsCodec: Codec<types.DomainMigratePrepare3ParamsArgs> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uint,
});

export const domainMigratePrepare3ParamsRetCodec: Codec<types.DomainMigratePrepare3ParamsRet> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
  uriOut: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const domainMigratePrepareTunnel3ParamsArgsCodec: Codec<types.DomainMigratePrepareTunnel3ParamsArgs> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uint,
});

export const domainMigratePrepareTunnel3ParamsRetCodec: Codec<types.DomainMigratePrepareTunnel3ParamsRet> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
});

export const domainMigratePerform3ParamsArgsCodec: Codec<types.DomainMigratePerform3ParamsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  dconnuri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  params: /* @__PURE__ */ array(64, typedParamCodec),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uint,
});

export const domainMigratePerform3ParamsRetCodec: Codec<types.DomainMigratePerform3ParamsRet> = /* @__PURE__ */ struct({
  cookieOut: /* @__PURE__ */ opaque(4194304),
});

export const domainMigrateFinish3ParamsArgsCodec: Codec<types.DomainMigrateFinish3ParamsArgs> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uint,
  cancelled: int,
});

export const domainMigrateFinish3ParamsRetCodec: Codec<types.DomainMigrateFinish3ParamsRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cookieOut: /* @__PURE__ */ opaque(4194304),
});

export const domainMigrateConfirm3ParamsArgsCodec: Codec<types.DomainMigrateConfirm3ParamsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(64, typedParamCodec),
  cookieIn: /* @__PURE__ */ opaque(4194304),
  flags: uint,
  cancelled: int,
});

export const domainSetMemoryStatsPeriodArgsCodec: Codec<types.DomainSetMemoryStatsPeriodArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  period: int,
  flags: uint,
});

export const domainCreateXmlWithFilesArgsCodec: Codec<types.DomainCreateXmlWithFilesArgs> = /* @__PURE__ */ struct({
  xmlDesc: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainCreateXmlWithFilesRetCodec: Codec<types.DomainCreateXmlWithFilesRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainCreateWithFilesArgsCodec: Codec<types.DomainCreateWithFilesArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainCreateWithFilesRetCodec: Codec<types.DomainCreateWithFilesRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const connectGetCpuModelNamesArgsCodec: Codec<types.ConnectGetCpuModelNamesArgs> = /* @__PURE__ */ struct({
  arch: /* @__PURE__ */ string(4194304),
  needResults: int,
  flags: uint,
});

export const connectGetCpuModelNamesRetCodec: Codec<types.ConnectGetCpuModelNamesRet> = /* @__PURE__ */ struct({
  models: /* @__PURE__ */ array(8192, /* @__PURE__ */ string(4194304)),
  ret: int,
});

export const connectNetworkEventRegisterAnyArgsCodec: Codec<types.ConnectNetworkEventRegisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
  net: /* @__PURE__ */ optional(networkCodec),
});

export const connectNetworkEventRegisterAnyRetCodec: Codec<types.ConnectNetworkEventRegisterAnyRet> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const connectNetworkEventDeregisterAnyArgsCodec: Codec<types.ConnectNetworkEventDeregisterAnyArgs> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const connectDomainEventCallbackRegisterAnyArgsCodec: Codec<types.ConnectDomainEventCallbackRegisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
  dom: /* @__PURE__ */ optional(domainCodec),
});

export const connectDomainEventCallbackRegisterAnyRetCodec: Codec<types.ConnectDomainEventCallbackRegisterAnyRet> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const connectDomainEventCallbackDeregisterAnyArgsCodec: Codec<types.ConnectDomainEventCallbackDeregisterAnyArgs> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const domainCoreDumpWithFormatArgsCodec: Codec<types.DomainCoreDumpWithFormatArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  to: /* @__PURE__ */ string(4194304),
  dumpformat: uint,
  flags: uint,
});

export const domainFsfreezeArgsCodec: Codec<types.DomainFsfreezeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  mountpoints: /* @__PURE__ */ array(256, /* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainFsfreezeRetCodec: Codec<types.DomainFsfreezeRet> = /* @__PURE__ */ struct({
  filesystems: int,
});

export const domainFsthawArgsCodec: Codec<types.DomainFsthawArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  mountpoints: /* @__PURE__ */ array(256, /* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainFsthawRetCodec: Codec<types.DomainFsthawRet> = /* @__PURE__ */ struct({
  filesystems: int,
});

export const domainGetTimeArgsCodec: Codec<types.DomainGetTimeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetTimeRetCodec: Codec<types.DomainGetTimeRet> = /* @__PURE__ */ struct({
  seconds: hyper,
  nseconds: uint,
});

export const domainSetTimeArgsCodec: Codec<types.DomainSetTimeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  seconds: hyper,
  nseconds: uint,
  flags: uint,
});

export const nodeGetFreePagesArgsCodec: Codec<types.NodeGetFreePagesArgs> = /* @__PURE__ */ struct({
  pages: /* @__PURE__ */ array(1024, uint),
  startCell: int,
  cellCount: uint,
  flags: uint,
});

export const nodeGetFreePagesRetCodec: Codec<types.NodeGetFreePagesRet> = /* @__PURE__ */ struct({
  counts: /* @__PURE__ */ array(1024, uhyper),
});

export const networkGetDhcpLeasesArgsCodec: Codec<types.NetworkGetDhcpLeasesArgs> = /* @__PURE__ */ struct({
  net: networkCodec,
  mac: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  needResults: int,
  flags: uint,
});

export const networkDhcpLeaseCodec: Codec<types.NetworkDhcpLease> = /* @__PURE__ */ struct({
  iface: /* @__PURE__ */ string(4194304),
  expirytime: hyper,
  type: int,
  mac: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  iaid: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  ipaddr: /* @__PURE__ */ string(4194304),
  prefix: uint,
  hostname: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  clientid: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const networkGetDhcpLeasesRetCodec: Codec<types.NetworkGetDhcpLeasesRet> = /* @__PURE__ */ struct({
  leases: /* @__PURE__ */ array(65536, networkDhcpLeaseCodec),
  ret: uint,
});

export const connectGetDomainCapabilitiesArgsCodec: Codec<types.ConnectGetDomainCapabilitiesArgs> = /* @__PURE__ */ struct({
  emulatorbin: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  arch: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  machine: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  virttype: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const connectGetDomainCapabilitiesRetCodec: Codec<types.ConnectGetDomainCapabilitiesRet> = /* @__PURE__ */ struct({
  capabilities: /* @__PURE__ */ string(4194304),
});

export const domainOpenGraphicsFdArgsCodec: Codec<types.DomainOpenGraphicsFdArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  idx: uint,
  flags: uint,
});

export const connectGetAllDomainStatsArgsCodec: Codec<types.ConnectGetAllDomainStatsArgs> = /* @__PURE__ */ struct({
  doms: /* @__PURE__ */ array(16384, domainCodec),
  stats: uint,
  flags: uint,
});

export const domainStatsRecordCodec: Codec<types.DomainStatsRecord> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(262144, typedParamCodec),
});

export const connectGetAllDomainStatsRetCodec: Codec<types.ConnectGetAllDomainStatsRet> = /* @__PURE__ */ struct({
  retStats: /* @__PURE__ */ array(16384, domainStatsRecordCodec),
});

export const domainBlockCopyArgsCodec: Codec<types.DomainBlockCopyArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  destxml: /* @__PURE__ */ string(4194304),
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const nodeAllocPagesArgsCodec: Codec<types.NodeAllocPagesArgs> = /* @__PURE__ */ struct({
  pageSizes: /* @__PURE__ */ array(1024, uint),
  pageCounts: /* @__PURE__ */ array(1024, uhyper),
  startCell: int,
  cellCount: uint,
  flags: uint,
});

export const nodeAllocPagesRetCodec: Codec<types.NodeAllocPagesRet> = /* @__PURE__ */ struct({
  ret: int,
});

export const domainGetFsinfoArgsCodec: Codec<types.DomainGetFsinfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainFsinfoCodec: Codec<types.DomainFsinfo> = /* @__PURE__ */ struct({
  mountpoint: /* @__PURE__ */ string(4194304),
  name: /* @__PURE__ */ string(4194304),
  fstype: /* @__PURE__ */ string(4194304),
  devAliases: /* @__PURE__ */ array(256, /* @__PURE__ */ string(4194304)),
});

export const domainGetFsinfoRetCodec: Codec<types.DomainGetFsinfoRet> = /* @__PURE__ */ struct({
  info: /* @__PURE__ */ array(256, domainFsinfoCodec),
  ret: uint,
});

export const domainDefineXmlFlagsArgsCodec: Codec<types.DomainDefineXmlFlagsArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainDefineXmlFlagsRetCodec: Codec<types.DomainDefineXmlFlagsRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainGetIothreadInfoArgsCodec: Codec<types.DomainGetIothreadInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainIothreadInfoCodec: Codec<types.DomainIothreadInfo> = /* @__PURE__ */ struct({
  iothreadId: uint,
  cpumap: /* @__PURE__ */ opaque(2048),
});

export const domainGetIothreadInfoRetCodec: Codec<types.DomainGetIothreadInfoRet> = /* @__PURE__ */ struct({
  info: /* @__PURE__ */ array(16384, domainIothreadInfoCodec),
  ret: uint,
});

export const domainPinIothreadArgsCodec: Codec<types.DomainPinIothreadArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  iothreadsId: uint,
  cpumap: /* @__PURE__ */ opaque(2048),
  flags: uint,
});

export const domainInterfaceAddressesArgsCodec: Codec<types.DomainInterfaceAddressesArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  source: uint,
  flags: uint,
});

export const domainIpAddrCodec: Codec<types.DomainIpAddr> = /* @__PURE__ */ struct({
  type: int,
  addr: /* @__PURE__ */ string(4194304),
  prefix: uint,
});

export const domainInterfaceCodec: Codec<types.DomainInterface> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  hwaddr: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  addrs: /* @__PURE__ */ array(2048, domainIpAddrCodec),
});

export const domainInterfaceAddressesRetCodec: Codec<types.DomainInterfaceAddressesRet> = /* @__PURE__ */ struct({
  ifaces: /* @__PURE__ */ array(2048, domainInterfaceCodec),
});

export const domainAddIothreadArgsCodec: Codec<types.DomainAddIothreadArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  iothreadId: uint,
  flags: uint,
});

export const domainDelIothreadArgsCodec: Codec<types.DomainDelIothreadArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  iothreadId: uint,
  flags: uint,
});

export const domainSetUserPasswordArgsCodec: Codec<types.DomainSetUserPasswordArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  user: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  password: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainRenameArgsCodec: Codec<types.DomainRenameArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  newName: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainRenameRetCodec: Codec<types.DomainRenameRet> = /* @__PURE__ */ struct({
  retcode: int,
});

export const domainMigrateStartPostCopyArgsCodec: Codec<types.DomainMigrateStartPostCopyArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetPerfEventsArgsCodec: Codec<types.DomainGetPerfEventsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetPerfEventsRetCodec: Codec<types.DomainGetPerfEventsRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
});

export const domainSetPerfEventsArgsCodec: Codec<types.DomainSetPerfEventsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const connectStoragePoolEventRegisterAnyArgsCodec: Codec<types.ConnectStoragePoolEventRegisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
  pool: /* @__PURE__ */ optional(storagePoolCodec),
});

export const connectStoragePoolEventRegisterAnyRetCodec: Codec<types.ConnectStoragePoolEventRegisterAnyRet> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const connectStoragePoolEventDeregisterAnyArgsCodec: Codec<types.ConnectStoragePoolEventDeregisterAnyArgs> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const domainGetGuestVcpusArgsCodec: Codec<types.DomainGetGuestVcpusArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetGuestVcpusRetCodec: Codec<types.DomainGetGuestVcpusRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
});

export const domainSetGuestVcpusArgsCodec: Codec<types.DomainSetGuestVcpusArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cpumap: /* @__PURE__ */ string(4194304),
  state: int,
  flags: uint,
});

export const connectNodeDeviceEventRegisterAnyArgsCodec: Codec<types.ConnectNodeDeviceEventRegisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
  dev: /* @__PURE__ */ optional(nodeDeviceCodec),
});

export const connectNodeDeviceEventRegisterAnyRetCodec: Codec<types.ConnectNodeDeviceEventRegisterAnyRet> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const connectNodeDeviceEventDeregisterAnyArgsCodec: Codec<types.ConnectNodeDeviceEventDeregisterAnyArgs> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const storageVolGetInfoFlagsArgsCodec: Codec<types.StorageVolGetInfoFlagsArgs> = /* @__PURE__ */ struct({
  vol: storageVolCodec,
  flags: uint,
});

export const storageVolGetInfoFlagsRetCodec: Codec<types.StorageVolGetInfoFlagsRet> = /* @__PURE__ */ struct({
  type: int,
  capacity: uhyper,
  allocation: uhyper,
});

export const connectSecretEventRegisterAnyArgsCodec: Codec<types.ConnectSecretEventRegisterAnyArgs> = /* @__PURE__ */ struct({
  eventId: int,
  secret: /* @__PURE__ */ optional(secretCodec),
});

export const connectSecretEventRegisterAnyRetCodec: Codec<types.ConnectSecretEventRegisterAnyRet> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const connectSecretEventDeregisterAnyArgsCodec: Codec<types.ConnectSecretEventDeregisterAnyArgs> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const domainSetVcpuArgsCodec: Codec<types.DomainSetVcpuArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cpumap: /* @__PURE__ */ string(4194304),
  state: int,
  flags: uint,
});

export const domainSetBlockThresholdArgsCodec: Codec<types.DomainSetBlockThresholdArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  dev: /* @__PURE__ */ string(4194304),
  threshold: uhyper,
  flags: uint,
});

export const domainMigrateGetMaxDowntimeArgsCodec: Codec<types.DomainMigrateGetMaxDowntimeArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainMigrateGetMaxDowntimeRetCodec: Codec<types.DomainMigrateGetMaxDowntimeRet> = /* @__PURE__ */ struct({
  downtime: uhyper,
});

export const domainManagedSaveGetXmlDescArgsCodec: Codec<types.DomainManagedSaveGetXmlDescArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainManagedSaveGetXmlDescRetCodec: Codec<types.DomainManagedSaveGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainManagedSaveDefineXmlArgsCodec: Codec<types.DomainManagedSaveDefineXmlArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  dxml: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainSetLifecycleActionArgsCodec: Codec<types.DomainSetLifecycleActionArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  type: uint,
  action: uint,
  flags: uint,
});

export const storagePoolLookupByTargetPathArgsCodec: Codec<types.StoragePoolLookupByTargetPathArgs> = /* @__PURE__ */ struct({
  path: /* @__PURE__ */ string(4194304),
});

export const storagePoolLookupByTargetPathRetCodec: Codec<types.StoragePoolLookupByTargetPathRet> = /* @__PURE__ */ struct({
  pool: storagePoolCodec,
});

export const domainDetachDeviceAliasArgsCodec: Codec<types.DomainDetachDeviceAliasArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  alias: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const connectCompareHypervisorCpuArgsCodec: Codec<types.ConnectCompareHypervisorCpuArgs> = /* @__PURE__ */ struct({
  emulator: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  arch: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  machine: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  virttype: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  xmlCPU: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const connectCompareHypervisorCpuRetCodec: Codec<types.ConnectCompareHypervisorCpuRet> = /* @__PURE__ */ struct({
  result: int,
});

export const connectBaselineHypervisorCpuArgsCodec: Codec<types.ConnectBaselineHypervisorCpuArgs> = /* @__PURE__ */ struct({
  emulator: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  arch: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  machine: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  virttype: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  xmlCPUs: /* @__PURE__ */ array(256, /* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const connectBaselineHypervisorCpuRetCodec: Codec<types.ConnectBaselineHypervisorCpuRet> = /* @__PURE__ */ struct({
  cpu: /* @__PURE__ */ string(4194304),
});

export const nodeGetSevInfoArgsCodec: Codec<types.NodeGetSevInfoArgs> = /* @__PURE__ */ struct({
  nparams: int,
  flags: uint,
});

export const nodeGetSevInfoRetCodec: Codec<types.NodeGetSevInfoRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  nparams: int,
});

export const domainGetLaunchSecurityInfoArgsCodec: Codec<types.DomainGetLaunchSecurityInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetLaunchSecurityInfoRetCodec: Codec<types.DomainGetLaunchSecurityInfoRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
});

export const nwfilterBindingLookupByPortDevArgsCodec: Codec<types.NwfilterBindingLookupByPortDevArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nwfilterBindingCodec: Codec<types.NwfilterBinding> = /* @__PURE__ */ struct({
  portdev: /* @__PURE__ */ string(4194304),
  filtername: /* @__PURE__ */ string(4194304),
});

export const nwfilterBindingLookupByPortDevRetCodec: Codec<types.NwfilterBindingLookupByPortDevRet> = /* @__PURE__ */ struct({
  nwfilter: nwfilterBindingCodec,
});

export const nwfilterBindingGetXmlDescArgsCodec: Codec<types.NwfilterBindingGetXmlDescArgs> = /* @__PURE__ */ struct({
  nwfilter: nwfilterBindingCodec,
  flags: uint,
});

export const nwfilterBindingGetXmlDescRetCodec: Codec<types.NwfilterBindingGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const nwfilterBindingCreateXmlArgsCodec: Codec<types.NwfilterBindingCreateXmlArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nwfilterBindingCreateXmlRetCodec: Codec<types.NwfilterBindingCreateXmlRet> = /* @__PURE__ */ struct({
  nwfilter: nwfilterBindingCodec,
});

export const nwfilterBindingDeleteArgsCodec: Codec<types.NwfilterBindingDeleteArgs> = /* @__PURE__ */ struct({
  nwfilter: nwfilterBindingCodec,
});

export const connectListAllNwfilterBindingsArgsCodec: Codec<types.ConnectListAllNwfilterBindingsArgs> = /* @__PURE__ */ struct({
  needResults: int,
  flags: uint,
});

export const connectListAllNwfilterBindingsRetCodec: Codec<types.ConnectListAllNwfilterBindingsRet> = /* @__PURE__ */ struct({
  bindings: /* @__PURE__ */ array(16384, nwfilterBindingCodec),
  ret: uint,
});

export const domainSetIothreadParamsArgsCodec: Codec<types.DomainSetIothreadParamsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  iothreadId: uint,
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const connectGetStoragePoolCapabilitiesArgsCodec: Codec<types.ConnectGetStoragePoolCapabilitiesArgs> = /* @__PURE__ */ struct({
  flags: uint,
});

export const connectGetStoragePoolCapabilitiesRetCodec: Codec<types.ConnectGetStoragePoolCapabilitiesRet> = /* @__PURE__ */ struct({
  capabilities: /* @__PURE__ */ string(4194304),
});

export const networkListAllPortsArgsCodec: Codec<types.NetworkListAllPortsArgs> = /* @__PURE__ */ struct({
  network: networkCodec,
  needResults: int,
  flags: uint,
});

export const networkPortCodec: Codec<types.NetworkPort> = /* @__PURE__ */ struct({
  net: networkCodec,
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const networkListAllPortsRetCodec: Codec<types.NetworkListAllPortsRet> = /* @__PURE__ */ struct({
  ports: /* @__PURE__ */ array(16384, networkPortCodec),
  ret: uint,
});

export const networkPortLookupByUuidArgsCodec: Codec<types.NetworkPortLookupByUuidArgs> = /* @__PURE__ */ struct({
  network: networkCodec,
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const networkPortLookupByUuidRetCodec: Codec<types.NetworkPortLookupByUuidRet> = /* @__PURE__ */ struct({
  port: networkPortCodec,
});

export const networkPortCreateXmlArgsCodec: Codec<types.NetworkPortCreateXmlArgs> = /* @__PURE__ */ struct({
  network: networkCodec,
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const networkPortCreateXmlRetCodec: Codec<types.NetworkPortCreateXmlRet> = /* @__PURE__ */ struct({
  port: networkPortCodec,
});

export const networkPortGetParametersArgsCodec: Codec<types.NetworkPortGetParametersArgs> = /* @__PURE__ */ struct({
  port: networkPortCodec,
  nparams: int,
  flags: uint,
});

export const networkPortGetParametersRetCodec: Codec<types.NetworkPortGetParametersRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(16, typedParamCodec),
  nparams: int,
});

export const networkPortSetParametersArgsCodec: Codec<types.NetworkPortSetParametersArgs> = /* @__PURE__ */ struct({
  port: networkPortCodec,
  params: /* @__PURE__ */ array(16, typedParamCodec),
  flags: uint,
});

export const networkPortGetXmlDescArgsCodec: Codec<types.NetworkPortGetXmlDescArgs> = /* @__PURE__ */ struct({
  port: networkPortCodec,
  flags: uint,
});

export const networkPortGetXmlDescRetCodec: Codec<types.NetworkPortGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const networkPortDeleteArgsCodec: Codec<types.NetworkPortDeleteArgs> = /* @__PURE__ */ struct({
  port: networkPortCodec,
  flags: uint,
});

export const domainCheckpointCreateXmlArgsCodec: Codec<types.DomainCheckpointCreateXmlArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  xmlDesc: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainCheckpointCodec: Codec<types.DomainCheckpoint> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  dom: domainCodec,
});

export const domainCheckpointCreateXmlRetCodec: Codec<types.DomainCheckpointCreateXmlRet> = /* @__PURE__ */ struct({
  checkpoint: domainCheckpointCodec,
});

export const domainCheckpointGetXmlDescArgsCodec: Codec<types.DomainCheckpointGetXmlDescArgs> = /* @__PURE__ */ struct({
  checkpoint: domainCheckpointCodec,
  flags: uint,
});

export const domainCheckpointGetXmlDescRetCodec: Codec<types.DomainCheckpointGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainListAllCheckpointsArgsCodec: Codec<types.DomainListAllCheckpointsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  needResults: int,
  flags: uint,
});

export const domainListAllCheckpointsRetCodec: Codec<types.DomainListAllCheckpointsRet> = /* @__PURE__ */ struct({
  checkpoints: /* @__PURE__ */ array(16384, domainCheckpointCodec),
  ret: int,
});

export const domainCheckpointListAllChildrenArgsCodec: Codec<types.DomainCheckpointListAllChildrenArgs> = /* @__PURE__ */ struct({
  checkpoint: domainCheckpointCodec,
  needResults: int,
  flags: uint,
});

export const domainCheckpointListAllChildrenRetCodec: Codec<types.DomainCheckpointListAllChildrenRet> = /* @__PURE__ */ struct({
  checkpoints: /* @__PURE__ */ array(16384, domainCheckpointCodec),
  ret: int,
});

export const domainCheckpointLookupByNameArgsCodec: Codec<types.DomainCheckpointLookupByNameArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  name: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainCheckpointLookupByNameRetCodec: Codec<types.DomainCheckpointLookupByNameRet> = /* @__PURE__ */ struct({
  checkpoint: domainCheckpointCodec,
});

export const domainCheckpointGetParentArgsCodec: Codec<types.DomainCheckpointGetParentArgs> = /* @__PURE__ */ struct({
  checkpoint: domainCheckpointCodec,
  flags: uint,
});

export const domainCheckpointGetParentRetCodec: Codec<types.DomainCheckpointGetParentRet> = /* @__PURE__ */ struct({
  parent: domainCheckpointCodec,
});

export const domainCheckpointDeleteArgsCodec: Codec<types.DomainCheckpointDeleteArgs> = /* @__PURE__ */ struct({
  checkpoint: domainCheckpointCodec,
  flags: uint,
});

export const domainGetGuestInfoArgsCodec: Codec<types.DomainGetGuestInfoArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  types: uint,
  flags: uint,
});

export const domainGetGuestInfoRetCodec: Codec<types.DomainGetGuestInfoRet> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(2048, typedParamCodec),
});

export const connectSetIdentityArgsCodec: Codec<types.ConnectSetIdentityArgs> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(20, typedParamCodec),
  flags: uint,
});

export const domainAgentSetResponseTimeoutArgsCodec: Codec<types.DomainAgentSetResponseTimeoutArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  timeout: int,
  flags: uint,
});

export const domainAgentSetResponseTimeoutRetCodec: Codec<types.DomainAgentSetResponseTimeoutRet> = /* @__PURE__ */ struct({
  result: int,
});

export const domainBackupBeginArgsCodec: Codec<types.DomainBackupBeginArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  backupXml: /* @__PURE__ */ string(4194304),
  checkpointXml: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainBackupGetXmlDescArgsCodec: Codec<types.DomainBackupGetXmlDescArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainBackupGetXmlDescRetCodec: Codec<types.DomainBackupGetXmlDescRet> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
});

export const domainAuthorizedSshKeysGetArgsCodec: Codec<types.DomainAuthorizedSshKeysGetArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  user: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const domainAuthorizedSshKeysGetRetCodec: Codec<types.DomainAuthorizedSshKeysGetRet> = /* @__PURE__ */ struct({
  keys: /* @__PURE__ */ array(2048, /* @__PURE__ */ string(4194304)),
});

export const domainAuthorizedSshKeysSetArgsCodec: Codec<types.DomainAuthorizedSshKeysSetArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  user: /* @__PURE__ */ string(4194304),
  keys: /* @__PURE__ */ array(2048, /* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const domainGetMessagesArgsCodec: Codec<types.DomainGetMessagesArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainGetMessagesRetCodec: Codec<types.DomainGetMessagesRet> = /* @__PURE__ */ struct({
  msgs: /* @__PURE__ */ array(2048, /* @__PURE__ */ string(4194304)),
});

export const domainStartDirtyRateCalcArgsCodec: Codec<types.DomainStartDirtyRateCalcArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  seconds: int,
  flags: uint,
});

export const nodeDeviceDefineXmlArgsCodec: Codec<types.NodeDeviceDefineXmlArgs> = /* @__PURE__ */ struct({
  xmlDesc: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nodeDeviceDefineXmlRetCodec: Codec<types.NodeDeviceDefineXmlRet> = /* @__PURE__ */ struct({
  dev: nodeDeviceCodec,
});

export const nodeDeviceUndefineArgsCodec: Codec<types.NodeDeviceUndefineArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nodeDeviceCreateArgsCodec: Codec<types.NodeDeviceCreateArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nwfilterDefineXmlFlagsArgsCodec: Codec<types.NwfilterDefineXmlFlagsArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const nwfilterDefineXmlFlagsRetCodec: Codec<types.NwfilterDefineXmlFlagsRet> = /* @__PURE__ */ struct({
  nwfilter: nwfilterCodec,
});

export const networkDefineXmlFlagsArgsCodec: Codec<types.NetworkDefineXmlFlagsArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const networkDefineXmlFlagsRetCodec: Codec<types.NetworkDefineXmlFlagsRet> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const nodeDeviceGetAutostartArgsCodec: Codec<types.NodeDeviceGetAutostartArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceGetAutostartRetCodec: Codec<types.NodeDeviceGetAutostartRet> = /* @__PURE__ */ struct({
  autostart: int,
});

export const nodeDeviceSetAutostartArgsCodec: Codec<types.NodeDeviceSetAutostartArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  autostart: int,
});

export const nodeDeviceIsPersistentArgsCodec: Codec<types.NodeDeviceIsPersistentArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceIsPersistentRetCodec: Codec<types.NodeDeviceIsPersistentRet> = /* @__PURE__ */ struct({
  persistent: int,
});

export const nodeDeviceIsActiveArgsCodec: Codec<types.NodeDeviceIsActiveArgs> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
});

export const nodeDeviceIsActiveRetCodec: Codec<types.NodeDeviceIsActiveRet> = /* @__PURE__ */ struct({
  active: int,
});

export const networkCreateXmlFlagsArgsCodec: Codec<types.NetworkCreateXmlFlagsArgs> = /* @__PURE__ */ struct({
  xml: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const networkCreateXmlFlagsRetCodec: Codec<types.NetworkCreateXmlFlagsRet> = /* @__PURE__ */ struct({
  net: networkCodec,
});

export const domainSetLaunchSecurityStateArgsCodec: Codec<types.DomainSetLaunchSecurityStateArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const domainSaveParamsArgsCodec: Codec<types.DomainSaveParamsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const domainRestoreParamsArgsCodec: Codec<types.DomainRestoreParamsArgs> = /* @__PURE__ */ struct({
  params: /* @__PURE__ */ array(64, typedParamCodec),
  flags: uint,
});

export const domainAbortJobFlagsArgsCodec: Codec<types.DomainAbortJobFlagsArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  flags: uint,
});

export const domainFdAssociateArgsCodec: Codec<types.DomainFdAssociateArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  name: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const qemuDomainMonitorCommandArgsCodec: Codec<types.QemuDomainMonitorCommandArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cmd: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const qemuDomainMonitorCommandRetCodec: Codec<types.QemuDomainMonitorCommandRet> = /* @__PURE__ */ struct({
  result: /* @__PURE__ */ string(4194304),
});

export const qemuDomainAttachArgsCodec: Codec<types.QemuDomainAttachArgs> = /* @__PURE__ */ struct({
  pidValue: uint,
  flags: uint,
});

export const qemuDomainAttachRetCodec: Codec<types.QemuDomainAttachRet> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const qemuDomainAgentCommandArgsCodec: Codec<types.QemuDomainAgentCommandArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cmd: /* @__PURE__ */ string(4194304),
  timeout: int,
  flags: uint,
});

export const qemuDomainAgentCommandRetCodec: Codec<types.QemuDomainAgentCommandRet> = /* @__PURE__ */ struct({
  result: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const qemuConnectDomainMonitorEventRegisterArgsCodec: Codec<types.QemuConnectDomainMonitorEventRegisterArgs> = /* @__PURE__ */ struct({
  dom: /* @__PURE__ */ optional(domainCodec),
  event: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  flags: uint,
});

export const qemuConnectDomainMonitorEventRegisterRetCodec: Codec<types.QemuConnectDomainMonitorEventRegisterRet> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const qemuConnectDomainMonitorEventDeregisterArgsCodec: Codec<types.QemuConnectDomainMonitorEventDeregisterArgs> = /* @__PURE__ */ struct({
  callbackId: int,
});

export const qemuDomainMonitorCommandWithFilesArgsCodec: Codec<types.QemuDomainMonitorCommandWithFilesArgs> = /* @__PURE__ */ struct({
  dom: domainCodec,
  cmd: /* @__PURE__ */ string(4194304),
  flags: uint,
});

export const qemuDomainMonitorCommandWithFilesRetCodec: Codec<types.QemuDomainMonitorCommandWithFilesRet> = /* @__PURE__ */ struct({
  result: /* @__PURE__ */ string(4194304),
});

export const domainEventLifecycleMsgCodec: Codec<types.DomainEventLifecycleMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  event: int,
  detail: int,
});

export const domainEventRebootMsgCodec: Codec<types.DomainEventRebootMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainEventRtcChangeMsgCodec: Codec<types.DomainEventRtcChangeMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  offset: hyper,
});

export const domainEventWatchdogMsgCodec: Codec<types.DomainEventWatchdogMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  action: int,
});

export const domainEventIoErrorMsgCodec: Codec<types.DomainEventIoErrorMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  srcPath: /* @__PURE__ */ string(4194304),
  devAlias: /* @__PURE__ */ string(4194304),
  action: int,
});

export const domainEventGraphicsAddressCodec: Codec<types.DomainEventGraphicsAddress> = /* @__PURE__ */ struct({
  family: int,
  node: /* @__PURE__ */ string(4194304),
  service: /* @__PURE__ */ string(4194304),
});

export const domainEventGraphicsIdentityCodec: Codec<types.DomainEventGraphicsIdentity> = /* @__PURE__ */ struct({
  type: /* @__PURE__ */ string(4194304),
  name: /* @__PURE__ */ string(4194304),
});

export const domainEventGraphicsMsgCodec: Codec<types.DomainEventGraphicsMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  phase: int,
  local: domainEventGraphicsAddressCodec,
  remote: domainEventGraphicsAddressCodec,
  authScheme: /* @__PURE__ */ string(4194304),
  subject: /* @__PURE__ */ array(20, domainEventGraphicsIdentityCodec),
});

export const domainEventIoErrorReasonMsgCodec: Codec<types.DomainEventIoErrorReasonMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  srcPath: /* @__PURE__ */ string(4194304),
  devAlias: /* @__PURE__ */ string(4194304),
  action: int,
  reason: /* @__PURE__ */ string(4194304),
});

export const domainEventControlErrorMsgCodec: Codec<types.DomainEventControlErrorMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainEventBlockJobMsgCodec: Codec<types.DomainEventBlockJobMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  path: /* @__PURE__ */ string(4194304),
  type: int,
  status: int,
});

export const domainEventDiskChangeMsgCodec: Codec<types.DomainEventDiskChangeMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  oldSrcPath: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  newSrcPath: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  devAlias: /* @__PURE__ */ string(4194304),
  reason: int,
});

export const domainEventTrayChangeMsgCodec: Codec<types.DomainEventTrayChangeMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  devAlias: /* @__PURE__ */ string(4194304),
  reason: int,
});

export const domainEventPmwakeupMsgCodec: Codec<types.DomainEventPmwakeupMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainEventPmsuspendMsgCodec: Codec<types.DomainEventPmsuspendMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainEventBalloonChangeMsgCodec: Codec<types.DomainEventBalloonChangeMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  actual: uhyper,
});

export const domainEventPmsuspendDiskMsgCodec: Codec<types.DomainEventPmsuspendDiskMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
});

export const domainEventDeviceRemovedMsgCodec: Codec<types.DomainEventDeviceRemovedMsg> = /* @__PURE__ */ struct({
  dom: domainCodec,
  devAlias: /* @__PURE__ */ string(4194304),
});

export const networkEventLifecycleMsgCodec: Codec<types.NetworkEventLifecycleMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  net: networkCodec,
  event: int,
  detail: int,
});

export const domainEventCallbackLifecycleMsgCodec: Codec<types.DomainEventCallbackLifecycleMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventLifecycleMsgCodec,
});

export const domainEventCallbackRebootMsgCodec: Codec<types.DomainEventCallbackRebootMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventRebootMsgCodec,
});

export const domainEventCallbackRtcChangeMsgCodec: Codec<types.DomainEventCallbackRtcChangeMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventRtcChangeMsgCodec,
});

export const domainEventCallbackWatchdogMsgCodec: Codec<types.DomainEventCallbackWatchdogMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventWatchdogMsgCodec,
});

export const domainEventCallbackIoErrorMsgCodec: Codec<types.DomainEventCallbackIoErrorMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventIoErrorMsgCodec,
});

export const domainEventCallbackGraphicsMsgCodec: Codec<types.DomainEventCallbackGraphicsMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventGraphicsMsgCodec,
});

export const domainEventCallbackIoErrorReasonMsgCodec: Codec<types.DomainEventCallbackIoErrorReasonMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventIoErrorReasonMsgCodec,
});

export const domainEventCallbackControlErrorMsgCodec: Codec<types.DomainEventCallbackControlErrorMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventControlErrorMsgCodec,
});

export const domainEventCallbackBlockJobMsgCodec: Codec<types.DomainEventCallbackBlockJobMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventBlockJobMsgCodec,
});

export const domainEventCallbackDiskChangeMsgCodec: Codec<types.DomainEventCallbackDiskChangeMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventDiskChangeMsgCodec,
});

export const domainEventCallbackTrayChangeMsgCodec: Codec<types.DomainEventCallbackTrayChangeMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventTrayChangeMsgCodec,
});

export const domainEventCallbackPmwakeupMsgCodec: Codec<types.DomainEventCallbackPmwakeupMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  reason: int,
  msg: domainEventPmwakeupMsgCodec,
});

export const domainEventCallbackPmsuspendMsgCodec: Codec<types.DomainEventCallbackPmsuspendMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  reason: int,
  msg: domainEventPmsuspendMsgCodec,
});

export const domainEventCallbackBalloonChangeMsgCodec: Codec<types.DomainEventCallbackBalloonChangeMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventBalloonChangeMsgCodec,
});

export const domainEventCallbackPmsuspendDiskMsgCodec: Codec<types.DomainEventCallbackPmsuspendDiskMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  reason: int,
  msg: domainEventPmsuspendDiskMsgCodec,
});

export const domainEventCallbackDeviceRemovedMsgCodec: Codec<types.DomainEventCallbackDeviceRemovedMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  msg: domainEventDeviceRemovedMsgCodec,
});

export const domainEventBlockJob2MsgCodec: Codec<types.DomainEventBlockJob2Msg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  dst: /* @__PURE__ */ string(4194304),
  type: int,
  status: int,
});

export const domainEventCallbackTunableMsgCodec: Codec<types.DomainEventCallbackTunableMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  params: /* @__PURE__ */ array(2048, typedParamCodec),
});

export const domainEventCallbackAgentLifecycleMsgCodec: Codec<types.DomainEventCallbackAgentLifecycleMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  state: int,
  reason: int,
});

export const domainEventCallbackDeviceAddedMsgCodec: Codec<types.DomainEventCallbackDeviceAddedMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  devAlias: /* @__PURE__ */ string(4194304),
});

export const domainEventCallbackMigrationIterationMsgCodec: Codec<types.DomainEventCallbackMigrationIterationMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  iteration: int,
});

export const connectEventConnectionClosedMsgCodec: Codec<types.ConnectEventConnectionClosedMsg> = /* @__PURE__ */ struct({
  reason: int,
});

export const domainEventCallbackJobCompletedMsgCodec: Codec<types.DomainEventCallbackJobCompletedMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  params: /* @__PURE__ */ array(64, typedParamCodec),
});

export const domainEventCallbackDeviceRemovalFailedMsgCodec: Codec<types.DomainEventCallbackDeviceRemovalFailedMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  devAlias: /* @__PURE__ */ string(4194304),
});

export const storagePoolEventLifecycleMsgCodec: Codec<types.StoragePoolEventLifecycleMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  pool: storagePoolCodec,
  event: int,
  detail: int,
});

export const storagePoolEventRefreshMsgCodec: Codec<types.StoragePoolEventRefreshMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  pool: storagePoolCodec,
});

export const nodeDeviceEventLifecycleMsgCodec: Codec<types.NodeDeviceEventLifecycleMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dev: nodeDeviceCodec,
  event: int,
  detail: int,
});

export const nodeDeviceEventUpdateMsgCodec: Codec<types.NodeDeviceEventUpdateMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dev: nodeDeviceCodec,
});

export const domainEventCallbackMetadataChangeMsgCodec: Codec<types.DomainEventCallbackMetadataChangeMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  type: int,
  nsuri: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const secretEventLifecycleMsgCodec: Codec<types.SecretEventLifecycleMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  secret: secretCodec,
  event: int,
  detail: int,
});

export const secretEventValueChangedMsgCodec: Codec<types.SecretEventValueChangedMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  secret: secretCodec,
});

export const domainEventBlockThresholdMsgCodec: Codec<types.DomainEventBlockThresholdMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  dev: /* @__PURE__ */ string(4194304),
  path: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  threshold: uhyper,
  excess: uhyper,
});

export const domainEventMemoryFailureMsgCodec: Codec<types.DomainEventMemoryFailureMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  recipient: int,
  action: int,
  flags: uint,
});

export const domainEventMemoryDeviceSizeChangeMsgCodec: Codec<types.DomainEventMemoryDeviceSizeChangeMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  alias: /* @__PURE__ */ string(4194304),
  size: uhyper,
});

export const qemuDomainMonitorEventMsgCodec: Codec<types.QemuDomainMonitorEventMsg> = /* @__PURE__ */ struct({
  callbackId: int,
  dom: domainCodec,
  event: /* @__PURE__ */ string(4194304),
  seconds: hyper,
  micros: uint,
  details: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
});

export const netMessageDomainCodec: Codec<types.NetMessageDomain> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  uuid: /* @__PURE__ */ fixedOpaque(16),
  id: int,
});

export const netMessageNetworkCodec: Codec<types.NetMessageNetwork> = /* @__PURE__ */ struct({
  name: /* @__PURE__ */ string(4194304),
  uuid: /* @__PURE__ */ fixedOpaque(16),
});

export const netMessageErrorCodec: Codec<types.NetMessageError> = /* @__PURE__ */ struct({
  code: int,
  domain: int,
  message: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  level: int,
  dom: /* @__PURE__ */ optional(netMessageDomainCodec),
  str1: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  str2: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  str3: /* @__PURE__ */ optional(/* @__PURE__ */ string(4194304)),
  int1: int,
  int2: int,
  net: /* @__PURE__ */ optional(netMessageNetworkCodec),
});

export const netStreamHoleCodec: Codec<types.NetStreamHole> = /* @__PURE__ */ struct({
  length: hyper,
  flags: uint,
});
