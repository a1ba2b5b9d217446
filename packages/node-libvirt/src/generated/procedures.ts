// Written by scripts/generate.ts from libvirt's protocol definitions. Do not edit.

import { nothing } from '../xdr/codec.ts';
import type { Procedure, StreamProcedure } from '../procedure.ts';
import * as codecs from './codecs.ts';
import { QEMU_PROGRAM, REMOTE_PROGRAM } from './constants.ts';
import type * as types from './types.ts';

export const connectOpen: Procedure<types.ConnectOpenArgs, void> = {
  name: 'CONNECT_OPEN',
  program: REMOTE_PROGRAM,
  number: 1,
  args: codecs.connectOpenArgsCodec,
  ret: nothing,
};

export const connectClose: Procedure<void, void> = {
  name: 'CONNECT_CLOSE',
  program: REMOTE_PROGRAM,
  number: 2,
  args: nothing,
  ret: nothing,
};

export const connectGetType: Procedure<void, types.ConnectGetTypeRet> = {
  name: 'CONNECT_GET_TYPE',
  program: REMOTE_PROGRAM,
  number: 3,
  args: nothing,
  ret: codecs.connectGetTypeRetCodec,
};

export const connectGetVersion: Procedure<void, types.ConnectGetVersionRet> = {
  name: 'CONNECT_GET_VERSION',
  program: REMOTE_PROGRAM,
  number: 4,
  args: nothing,
  ret: codecs.connectGetVersionRetCodec,
};

export const connectGetMaxVcpus: Procedure<types.ConnectGetMaxVcpusArgs, types.ConnectGetMaxVcpusRet> = {
  name: 'CONNECT_GET_MAX_VCPUS',
  program: REMOTE_PROGRAM,
  number: 5,
  args: codecs.connectGetMaxVcpusArgsCodec,
  ret: codecs.connectGetMaxVcpusRetCodec,
};

export const nodeGetInfo: Procedure<void, types.NodeGetInfoRet> = {
  name: 'NODE_GET_INFO',
  program: REMOTE_PROGRAM,
  number: 6,
  args: nothing,
  ret: codecs.nodeGetInfoRetCodec,
};

export const connectGetCapabilities: Procedure<void, types.ConnectGetCapabilitiesRet> = {
  name: 'CONNECT_GET_CAPABILITIES',
  program: REMOTE_PROGRAM,
  number: 7,
  args: nothing,
  ret: codecs.connectGetCapabilitiesRetCodec,
};

export const domainAttachDevice: Procedure<types.DomainAttachDeviceArgs, void> = {
  name: 'DOMAIN_ATTACH_DEVICE',
  program: REMOTE_PROGRAM,
  number: 8,
  args: codecs.domainAttachDeviceArgsCodec,
  ret: nothing,
};

export const domainCreate: Procedure<types.DomainCreateArgs, void> = {
  name: 'DOMAIN_CREATE',
  program: REMOTE_PROGRAM,
  number: 9,
  args: codecs.domainCreateArgsCodec,
  ret: nothing,
};

export const domainCreateXml: Procedure<types.DomainCreateXmlArgs, types.DomainCreateXmlRet> = {
  name: 'DOMAIN_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 10,
  args: codecs.domainCreateXmlArgsCodec,
  ret: codecs.domainCreateXmlRetCodec,
};

export const domainDefineXml: Procedure<types.DomainDefineXmlArgs, types.DomainDefineXmlRet> = {
  name: 'DOMAIN_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 11,
  args: codecs.domainDefineXmlArgsCodec,
  ret: codecs.domainDefineXmlRetCodec,
};

export const domainDestroy: Procedure<types.DomainDestroyArgs, void> = {
  name: 'DOMAIN_DESTROY',
  program: REMOTE_PROGRAM,
  number: 12,
  args: codecs.domainDestroyArgsCodec,
  ret: nothing,
};

export const domainDetachDevice: Procedure<types.DomainDetachDeviceArgs, void> = {
  name: 'DOMAIN_DETACH_DEVICE',
  program: REMOTE_PROGRAM,
  number: 13,
  args: codecs.domainDetachDeviceArgsCodec,
  ret: nothing,
};

export const domainGetXmlDesc: Procedure<types.DomainGetXmlDescArgs, types.DomainGetXmlDescRet> = {
  name: 'DOMAIN_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 14,
  args: codecs.domainGetXmlDescArgsCodec,
  ret: codecs.domainGetXmlDescRetCodec,
};

export const domainGetAutostart: Procedure<types.DomainGetAutostartArgs, types.DomainGetAutostartRet> = {
  name: 'DOMAIN_GET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 15,
  args: codecs.domainGetAutostartArgsCodec,
  ret: codecs.domainGetAutostartRetCodec,
};

export const domainGetInfo: Procedure<types.DomainGetInfoArgs, types.DomainGetInfoRet> = {
  name: 'DOMAIN_GET_INFO',
  program: REMOTE_PROGRAM,
  number: 16,
  args: codecs.domainGetInfoArgsCodec,
  ret: codecs.domainGetInfoRetCodec,
};

export const domainGetMaxMemory: Procedure<types.DomainGetMaxMemoryArgs, types.DomainGetMaxMemoryRet> = {
  name: 'DOMAIN_GET_MAX_MEMORY',
  program: REMOTE_PROGRAM,
  number: 17,
  args: codecs.domainGetMaxMemoryArgsCodec,
  ret: codecs.domainGetMaxMemoryRetCodec,
};

export const domainGetMaxVcpus: Procedure<types.DomainGetMaxVcpusArgs, types.DomainGetMaxVcpusRet> = {
  name: 'DOMAIN_GET_MAX_VCPUS',
  program: REMOTE_PROGRAM,
  number: 18,
  args: codecs.domainGetMaxVcpusArgsCodec,
  ret: codecs.domainGetMaxVcpusRetCodec,
};

export const domainGetOsType: Procedure<types.DomainGetOsTypeArgs, types.DomainGetOsTypeRet> = {
  name: 'DOMAIN_GET_OS_TYPE',
  program: REMOTE_PROGRAM,
  number: 19,
  args: codecs.domainGetOsTypeArgsCodec,
  ret: codecs.domainGetOsTypeRetCodec,
};

export const domainGetVcpus: Procedure<types.DomainGetVcpusArgs, types.DomainGetVcpusRet> = {
  name: 'DOMAIN_GET_VCPUS',
  program: REMOTE_PROGRAM,
  number: 20,
  args: codecs.domainGetVcpusArgsCodec,
  ret: codecs.domainGetVcpusRetCodec,
};

export const connectListDefinedDomains: Procedure<types.ConnectListDefinedDomainsArgs, types.ConnectListDefinedDomainsRet> = {
  name: 'CONNECT_LIST_DEFINED_DOMAINS',
  program: REMOTE_PROGRAM,
  number: 21,
  args: codecs.connectListDefinedDomainsArgsCodec,
  ret: codecs.connectListDefinedDomainsRetCodec,
};

export const domainLookupById: Procedure<types.DomainLookupByIdArgs, types.DomainLookupByIdRet> = {
  name: 'DOMAIN_LOOKUP_BY_ID',
  program: REMOTE_PROGRAM,
  number: 22,
  args: codecs.domainLookupByIdArgsCodec,
  ret: codecs.domainLookupByIdRetCodec,
};

export const domainLookupByName: Procedure<types.DomainLookupByNameArgs, types.DomainLookupByNameRet> = {
  name: 'DOMAIN_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 23,
  args: codecs.domainLookupByNameArgsCodec,
  ret: codecs.domainLookupByNameRetCodec,
};

export const domainLookupByUuid: Procedure<types.DomainLookupByUuidArgs, types.DomainLookupByUuidRet> = {
  name: 'DOMAIN_LOOKUP_BY_UUID',
  program: REMOTE_PROGRAM,
  number: 24,
  args: codecs.domainLookupByUuidArgsCodec,
  ret: codecs.domainLookupByUuidRetCodec,
};

export const connectNumOfDefinedDomains: Procedure<void, types.ConnectNumOfDefinedDomainsRet> = {
  name: 'CONNECT_NUM_OF_DEFINED_DOMAINS',
  program: REMOTE_PROGRAM,
  number: 25,
  args: nothing,
  ret: codecs.connectNumOfDefinedDomainsRetCodec,
};

export const domainPinVcpu: Procedure<types.DomainPinVcpuArgs, void> = {
  name: 'DOMAIN_PIN_VCPU',
  program: REMOTE_PROGRAM,
  number: 26,
  args: codecs.domainPinVcpuArgsCodec,
  ret: nothing,
};

export const domainReboot: Procedure<types.DomainRebootArgs, void> = {
  name: 'DOMAIN_REBOOT',
  program: REMOTE_PROGRAM,
  number: 27,
  args: codecs.domainRebootArgsCodec,
  ret: nothing,
};

export const domainResume: Procedure<types.DomainResumeArgs, void> = {
  name: 'DOMAIN_RESUME',
  program: REMOTE_PROGRAM,
  number: 28,
  args: codecs.domainResumeArgsCodec,
  ret: nothing,
};

export const domainSetAutostart: Procedure<types.DomainSetAutostartArgs, void> = {
  name: 'DOMAIN_SET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 29,
  args: codecs.domainSetAutostartArgsCodec,
  ret: nothing,
};

export const domainSetMaxMemory: Procedure<types.DomainSetMaxMemoryArgs, void> = {
  name: 'DOMAIN_SET_MAX_MEMORY',
  program: REMOTE_PROGRAM,
  number: 30,
  args: codecs.domainSetMaxMemoryArgsCodec,
  ret: nothing,
};

export const domainSetMemory: Procedure<types.DomainSetMemoryArgs, void> = {
  name: 'DOMAIN_SET_MEMORY',
  program: REMOTE_PROGRAM,
  number: 31,
  args: codecs.domainSetMemoryArgsCodec,
  ret: nothing,
};

export const domainSetVcpus: Procedure<types.DomainSetVcpusArgs, void> = {
  name: 'DOMAIN_SET_VCPUS',
  program: REMOTE_PROGRAM,
  number: 32,
  args: codecs.domainSetVcpusArgsCodec,
  ret: nothing,
};

export const domainShutdown: Procedure<types.DomainShutdownArgs, void> = {
  name: 'DOMAIN_SHUTDOWN',
  program: REMOTE_PROGRAM,
  number: 33,
  args: codecs.domainShutdownArgsCodec,
  ret: nothing,
};

export const domainSuspend: Procedure<types.DomainSuspendArgs, void> = {
  name: 'DOMAIN_SUSPEND',
  program: REMOTE_PROGRAM,
  number: 34,
  args: codecs.domainSuspendArgsCodec,
  ret: nothing,
};

export const domainUndefine: Procedure<types.DomainUndefineArgs, void> = {
  name: 'DOMAIN_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 35,
  args: codecs.domainUndefineArgsCodec,
  ret: nothing,
};

export const connectListDefinedNetworks: Procedure<types.ConnectListDefinedNetworksArgs, types.ConnectListDefinedNetworksRet> = {
  name: 'CONNECT_LIST_DEFINED_NETWORKS',
  program: REMOTE_PROGRAM,
  number: 36,
  args: codecs.connectListDefinedNetworksArgsCodec,
  ret: codecs.connectListDefinedNetworksRetCodec,
};

export const connectListDomains: Procedure<types.ConnectListDomainsArgs, types.ConnectListDomainsRet> = {
  name: 'CONNECT_LIST_DOMAINS',
  program: REMOTE_PROGRAM,
  number: 37,
  args: codecs.connectListDomainsArgsCodec,
  ret: codecs.connectListDomainsRetCodec,
};

export const connectListNetworks: Procedure<types.ConnectListNetworksArgs, types.ConnectListNetworksRet> = {
  name: 'CONNECT_LIST_NETWORKS',
  program: REMOTE_PROGRAM,
  number: 38,
  args: codecs.connectListNetworksArgsCodec,
  ret: codecs.connectListNetworksRetCodec,
};

export const networkCreate: Procedure<types.NetworkCreateArgs, void> = {
  name: 'NETWORK_CREATE',
  program: REMOTE_PROGRAM,
  number: 39,
  args: codecs.networkCreateArgsCodec,
  ret: nothing,
};

export const networkCreateXml: Procedure<types.NetworkCreateXmlArgs, types.NetworkCreateXmlRet> = {
  name: 'NETWORK_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 40,
  args: codecs.networkCreateXmlArgsCodec,
  ret: codecs.networkCreateXmlRetCodec,
};

export const networkDefineXml: Procedure<types.NetworkDefineXmlArgs, types.NetworkDefineXmlRet> = {
  name: 'NETWORK_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 41,
  args: codecs.networkDefineXmlArgsCodec,
  ret: codecs.networkDefineXmlRetCodec,
};

export const networkDestroy: Procedure<types.NetworkDestroyArgs, void> = {
  name: 'NETWORK_DESTROY',
  program: REMOTE_PROGRAM,
  number: 42,
  args: codecs.networkDestroyArgsCodec,
  ret: nothing,
};

export const networkGetXmlDesc: Procedure<types.NetworkGetXmlDescArgs, types.NetworkGetXmlDescRet> = {
  name: 'NETWORK_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 43,
  args: codecs.networkGetXmlDescArgsCodec,
  ret: codecs.networkGetXmlDescRetCodec,
};

export const networkGetAutostart: Procedure<types.NetworkGetAutostartArgs, types.NetworkGetAutostartRet> = {
  name: 'NETWORK_GET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 44,
  args: codecs.networkGetAutostartArgsCodec,
  ret: codecs.networkGetAutostartRetCodec,
};

export const networkGetBridgeName: Procedure<types.NetworkGetBridgeNameArgs, types.NetworkGetBridgeNameRet> = {
  name: 'NETWORK_GET_BRIDGE_NAME',
  program: REMOTE_PROGRAM,
  number: 45,
  args: codecs.networkGetBridgeNameArgsCodec,
  ret: codecs.networkGetBridgeNameRetCodec,
};

export const networkLookupByName: Procedure<types.NetworkLookupByNameArgs, types.NetworkLookupByNameRet> = {
  name: 'NETWORK_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 46,
  args: codecs.networkLookupByNameArgsCodec,
  ret: codecs.networkLookupByNameRetCodec,
};

export const networkLookupByUuid: Procedure<types.NetworkLookupByUuidArgs, types.NetworkLookupByUuidRet> = {
  name: 'NETWORK_LOOKUP_BY_UUID',
  program: REMOTE_PROGRAM,
  number: 47,
  args: codecs.networkLookupByUuidArgsCodec,
  ret: codecs.networkLookupByUuidRetCodec,
};

export const networkSetAutostart: Procedure<types.NetworkSetAutostartArgs, void> = {
  name: 'NETWORK_SET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 48,
  args: codecs.networkSetAutostartArgsCodec,
  ret: nothing,
};

export const networkUndefine: Procedure<types.NetworkUndefineArgs, void> = {
  name: 'NETWORK_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 49,
  args: codecs.networkUndefineArgsCodec,
  ret: nothing,
};

export const connectNumOfDefinedNetworks: Procedure<void, types.ConnectNumOfDefinedNetworksRet> = {
  name: 'CONNECT_NUM_OF_DEFINED_NETWORKS',
  program: REMOTE_PROGRAM,
  number: 50,
  args: nothing,
  ret: codecs.connectNumOfDefinedNetworksRetCodec,
};

export const connectNumOfDomains: Procedure<void, types.ConnectNumOfDomainsRet> = {
  name: 'CONNECT_NUM_OF_DOMAINS',
  program: REMOTE_PROGRAM,
  number: 51,
  args: nothing,
  ret: codecs.connectNumOfDomainsRetCodec,
};

export const connectNumOfNetworks: Procedure<void, types.ConnectNumOfNetworksRet> = {
  name: 'CONNECT_NUM_OF_NETWORKS',
  program: REMOTE_PROGRAM,
  number: 52,
  args: nothing,
  ret: codecs.connectNumOfNetworksRetCodec,
};

export const domainCoreDump: Procedure<types.DomainCoreDumpArgs, void> = {
  name: 'DOMAIN_CORE_DUMP',
  program: REMOTE_PROGRAM,
  number: 53,
  args: codecs.domainCoreDumpArgsCodec,
  ret: nothing,
};

export const domainRestore: Procedure<types.DomainRestoreArgs, void> = {
  name: 'DOMAIN_RESTORE',
  program: REMOTE_PROGRAM,
  number: 54,
  args: codecs.domainRestoreArgsCodec,
  ret: nothing,
};

export const domainSave: Procedure<types.DomainSaveArgs, void> = {
  name: 'DOMAIN_SAVE',
  program: REMOTE_PROGRAM,
  number: 55,
  args: codecs.domainSaveArgsCodec,
  ret: nothing,
};

export const domainGetSchedulerType: Procedure<types.DomainGetSchedulerTypeArgs, types.DomainGetSchedulerTypeRet> = {
  name: 'DOMAIN_GET_SCHEDULER_TYPE',
  program: REMOTE_PROGRAM,
  number: 56,
  args: codecs.domainGetSchedulerTypeArgsCodec,
  ret: codecs.domainGetSchedulerTypeRetCodec,
};

export const domainGetSchedulerParameters: Procedure<types.DomainGetSchedulerParametersArgs, types.DomainGetSchedulerParametersRet> = {
  name: 'DOMAIN_GET_SCHEDULER_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 57,
  args: codecs.domainGetSchedulerParametersArgsCodec,
  ret: codecs.domainGetSchedulerParametersRetCodec,
};

export const domainSetSchedulerParameters: Procedure<types.DomainSetSchedulerParametersArgs, void> = {
  name: 'DOMAIN_SET_SCHEDULER_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 58,
  args: codecs.domainSetSchedulerParametersArgsCodec,
  ret: nothing,
};

export const connectGetHostname: Procedure<void, types.ConnectGetHostnameRet> = {
  name: 'CONNECT_GET_HOSTNAME',
  program: REMOTE_PROGRAM,
  number: 59,
  args: nothing,
  ret: codecs.connectGetHostnameRetCodec,
};

export const connectSupportsFeature: Procedure<types.ConnectSupportsFeatureArgs, types.ConnectSupportsFeatureRet> = {
  name: 'CONNECT_SUPPORTS_FEATURE',
  program: REMOTE_PROGRAM,
  number: 60,
  args: codecs.connectSupportsFeatureArgsCodec,
  ret: codecs.connectSupportsFeatureRetCodec,
};

export const domainMigratePrepare: Procedure<types.DomainMigratePrepareArgs, types.DomainMigratePrepareRet> = {
  name: 'DOMAIN_MIGRATE_PREPARE',
  program: REMOTE_PROGRAM,
  number: 61,
  args: codecs.domainMigratePrepareArgsCodec,
  ret: codecs.domainMigratePrepareRetCodec,
};

export const domainMigratePerform: Procedure<types.DomainMigratePerformArgs, void> = {
  name: 'DOMAIN_MIGRATE_PERFORM',
  program: REMOTE_PROGRAM,
  number: 62,
  args: codecs.domainMigratePerformArgsCodec,
  ret: nothing,
};

export const domainMigrateFinish: Procedure<types.DomainMigrateFinishArgs, types.DomainMigrateFinishRet> = {
  name: 'DOMAIN_MIGRATE_FINISH',
  program: REMOTE_PROGRAM,
  number: 63,
  args: codecs.domainMigrateFinishArgsCodec,
  ret: codecs.domainMigrateFinishRetCodec,
};

export const domainBlockStats: Procedure<types.DomainBlockStatsArgs, types.DomainBlockStatsRet> = {
  name: 'DOMAIN_BLOCK_STATS',
  program: REMOTE_PROGRAM,
  number: 64,
  args: codecs.domainBlockStatsArgsCodec,
  ret: codecs.domainBlockStatsRetCodec,
};

export const domainInterfaceStats: Procedure<types.DomainInterfaceStatsArgs, types.DomainInterfaceStatsRet> = {
  name: 'DOMAIN_INTERFACE_STATS',
  program: REMOTE_PROGRAM,
  number: 65,
  args: codecs.domainInterfaceStatsArgsCodec,
  ret: codecs.domainInterfaceStatsRetCodec,
};

export const authList: Procedure<void, types.AuthListRet> = {
  name: 'AUTH_LIST',
  program: REMOTE_PROGRAM,
  number: 66,
  args: nothing,
  ret: codecs.authListRetCodec,
};

export const authSaslInit: Procedure<void, types.AuthSaslInitRet> = {
  name: 'AUTH_SASL_INIT',
  program: REMOTE_PROGRAM,
  number: 67,
  args: nothing,
  ret: codecs.authSaslInitRetCodec,
};

export const authSaslStart: Procedure<types.AuthSaslStartArgs, types.AuthSaslStartRet> = {
  name: 'AUTH_SASL_START',
  program: REMOTE_PROGRAM,
  number: 68,
  args: codecs.authSaslStartArgsCodec,
  ret: codecs.authSaslStartRetCodec,
};

export const authSaslStep: Procedure<types.AuthSaslStepArgs, types.AuthSaslStepRet> = {
  name: 'AUTH_SASL_STEP',
  program: REMOTE_PROGRAM,
  number: 69,
  args: codecs.authSaslStepArgsCodec,
  ret: codecs.authSaslStepRetCodec,
};

export const authPolkit: Procedure<void, types.AuthPolkitRet> = {
  name: 'AUTH_POLKIT',
  program: REMOTE_PROGRAM,
  number: 70,
  args: nothing,
  ret: codecs.authPolkitRetCodec,
};

export const connectNumOfStoragePools: Procedure<void, types.ConnectNumOfStoragePoolsRet> = {
  name: 'CONNECT_NUM_OF_STORAGE_POOLS',
  program: REMOTE_PROGRAM,
  number: 71,
  args: nothing,
  ret: codecs.connectNumOfStoragePoolsRetCodec,
};

export const connectListStoragePools: Procedure<types.ConnectListStoragePoolsArgs, types.ConnectListStoragePoolsRet> = {
  name: 'CONNECT_LIST_STORAGE_POOLS',
  program: REMOTE_PROGRAM,
  number: 72,
  args: codecs.connectListStoragePoolsArgsCodec,
  ret: codecs.connectListStoragePoolsRetCodec,
};

export const connectNumOfDefinedStoragePools: Procedure<void, types.ConnectNumOfDefinedStoragePoolsRet> = {
  name: 'CONNECT_NUM_OF_DEFINED_STORAGE_POOLS',
  program: REMOTE_PROGRAM,
  number: 73,
  args: nothing,
  ret: codecs.connectNumOfDefinedStoragePoolsRetCodec,
};

export const connectListDefinedStoragePools: Procedure<types.ConnectListDefinedStoragePoolsArgs, types.ConnectListDefinedStoragePoolsRet> = {
  name: 'CONNECT_LIST_DEFINED_STORAGE_POOLS',
  program: REMOTE_PROGRAM,
  number: 74,
  args: codecs.connectListDefinedStoragePoolsArgsCodec,
  ret: codecs.connectListDefinedStoragePoolsRetCodec,
};

export const connectFindStoragePoolSources: Procedure<types.ConnectFindStoragePoolSourcesArgs, types.ConnectFindStoragePoolSourcesRet> = {
  name: 'CONNECT_FIND_STORAGE_POOL_SOURCES',
  program: REMOTE_PROGRAM,
  number: 75,
  args: codecs.connectFindStoragePoolSourcesArgsCodec,
  ret: codecs.connectFindStoragePoolSourcesRetCodec,
};

export const storagePoolCreateXml: Procedure<types.StoragePoolCreateXmlArgs, types.StoragePoolCreateXmlRet> = {
  name: 'STORAGE_POOL_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 76,
  args: codecs.storagePoolCreateXmlArgsCodec,
  ret: codecs.storagePoolCreateXmlRetCodec,
};

export const storagePoolDefineXml: Procedure<types.StoragePoolDefineXmlArgs, types.StoragePoolDefineXmlRet> = {
  name: 'STORAGE_POOL_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 77,
  args: codecs.storagePoolDefineXmlArgsCodec,
  ret: codecs.storagePoolDefineXmlRetCodec,
};

export const storagePoolCreate: Procedure<types.StoragePoolCreateArgs, void> = {
  name: 'STORAGE_POOL_CREATE',
  program: REMOTE_PROGRAM,
  number: 78,
  args: codecs.storagePoolCreateArgsCodec,
  ret: nothing,
};

export const storagePoolBuild: Procedure<types.StoragePoolBuildArgs, void> = {
  name: 'STORAGE_POOL_BUILD',
  program: REMOTE_PROGRAM,
  number: 79,
  args: codecs.storagePoolBuildArgsCodec,
  ret: nothing,
};

export const storagePoolDestroy: Procedure<types.StoragePoolDestroyArgs, void> = {
  name: 'STORAGE_POOL_DESTROY',
  program: REMOTE_PROGRAM,
  number: 80,
  args: codecs.storagePoolDestroyArgsCodec,
  ret: nothing,
};

export const storagePoolDelete: Procedure<types.StoragePoolDeleteArgs, void> = {
  name: 'STORAGE_POOL_DELETE',
  program: REMOTE_PROGRAM,
  number: 81,
  args: codecs.storagePoolDeleteArgsCodec,
  ret: nothing,
};

export const storagePoolUndefine: Procedure<types.StoragePoolUndefineArgs, void> = {
  name: 'STORAGE_POOL_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 82,
  args: codecs.storagePoolUndefineArgsCodec,
  ret: nothing,
};

export const storagePoolRefresh: Procedure<types.StoragePoolRefreshArgs, void> = {
  name: 'STORAGE_POOL_REFRESH',
  program: REMOTE_PROGRAM,
  number: 83,
  args: codecs.storagePoolRefreshArgsCodec,
  ret: nothing,
};

export const storagePoolLookupByName: Procedure<types.StoragePoolLookupByNameArgs, types.StoragePoolLookupByNameRet> = {
  name: 'STORAGE_POOL_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 84,
  args: codecs.storagePoolLookupByNameArgsCodec,
  ret: codecs.storagePoolLookupByNameRetCodec,
};

export const storagePoolLookupByUuid: Procedure<types.StoragePoolLookupByUuidArgs, types.StoragePoolLookupByUuidRet> = {
  name: 'STORAGE_POOL_LOOKUP_BY_UUID',
  program: REMOTE_PROGRAM,
  number: 85,
  args: codecs.storagePoolLookupByUuidArgsCodec,
  ret: codecs.storagePoolLookupByUuidRetCodec,
};

export const storagePoolLookupByVolume: Procedure<types.StoragePoolLookupByVolumeArgs, types.StoragePoolLookupByVolumeRet> = {
  name: 'STORAGE_POOL_LOOKUP_BY_VOLUME',
  program: REMOTE_PROGRAM,
  number: 86,
  args: codecs.storagePoolLookupByVolumeArgsCodec,
  ret: codecs.storagePoolLookupByVolumeRetCodec,
};

export const storagePoolGetInfo: Procedure<types.StoragePoolGetInfoArgs, types.StoragePoolGetInfoRet> = {
  name: 'STORAGE_POOL_GET_INFO',
  program: REMOTE_PROGRAM,
  number: 87,
  args: codecs.storagePoolGetInfoArgsCodec,
  ret: codecs.storagePoolGetInfoRetCodec,
};

export const storagePoolGetXmlDesc: Procedure<types.StoragePoolGetXmlDescArgs, types.StoragePoolGetXmlDescRet> = {
  name: 'STORAGE_POOL_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 88,
  args: codecs.storagePoolGetXmlDescArgsCodec,
  ret: codecs.storagePoolGetXmlDescRetCodec,
};

export const storagePoolGetAutostart: Procedure<types.StoragePoolGetAutostartArgs, types.StoragePoolGetAutostartRet> = {
  name: 'STORAGE_POOL_GET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 89,
  args: codecs.storagePoolGetAutostartArgsCodec,
  ret: codecs.storagePoolGetAutostartRetCodec,
};

export const storagePoolSetAutostart: Procedure<types.StoragePoolSetAutostartArgs, void> = {
  name: 'STORAGE_POOL_SET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 90,
  args: codecs.storagePoolSetAutostartArgsCodec,
  ret: nothing,
};

export const storagePoolNumOfVolumes: Procedure<types.StoragePoolNumOfVolumesArgs, types.StoragePoolNumOfVolumesRet> = {
  name: 'STORAGE_POOL_NUM_OF_VOLUMES',
  program: REMOTE_PROGRAM,
  number: 91,
  args: codecs.storagePoolNumOfVolumesArgsCodec,
  ret: codecs.storagePoolNumOfVolumesRetCodec,
};

export const storagePoolListVolumes: Procedure<types.StoragePoolListVolumesArgs, types.StoragePoolListVolumesRet> = {
  name: 'STORAGE_POOL_LIST_VOLUMES',
  program: REMOTE_PROGRAM,
  number: 92,
  args: codecs.storagePoolListVolumesArgsCodec,
  ret: codecs.storagePoolListVolumesRetCodec,
};

export const storageVolCreateXml: Procedure<types.StorageVolCreateXmlArgs, types.StorageVolCreateXmlRet> = {
  name: 'STORAGE_VOL_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 93,
  args: codecs.storageVolCreateXmlArgsCodec,
  ret: codecs.storageVolCreateXmlRetCodec,
};

export const storageVolDelete: Procedure<types.StorageVolDeleteArgs, void> = {
  name: 'STORAGE_VOL_DELETE',
  program: REMOTE_PROGRAM,
  number: 94,
  args: codecs.storageVolDeleteArgsCodec,
  ret: nothing,
};

export const storageVolLookupByName: Procedure<types.StorageVolLookupByNameArgs, types.StorageVolLookupByNameRet> = {
  name: 'STORAGE_VOL_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 95,
  args: codecs.storageVolLookupByNameArgsCodec,
  ret: codecs.storageVolLookupByNameRetCodec,
};

export const storageVolLookupByKey: Procedure<types.StorageVolLookupByKeyArgs, types.StorageVolLookupByKeyRet> = {
  name: 'STORAGE_VOL_LOOKUP_BY_KEY',
  program: REMOTE_PROGRAM,
  number: 96,
  args: codecs.storageVolLookupByKeyArgsCodec,
  ret: codecs.storageVolLookupByKeyRetCodec,
};

export const storageVolLookupByPath: Procedure<types.StorageVolLookupByPathArgs, types.StorageVolLookupByPathRet> = {
  name: 'STORAGE_VOL_LOOKUP_BY_PATH',
  program: REMOTE_PROGRAM,
  number: 97,
  args: codecs.storageVolLookupByPathArgsCodec,
  ret: codecs.storageVolLookupByPathRetCodec,
};

export const storageVolGetInfo: Procedure<types.StorageVolGetInfoArgs, types.StorageVolGetInfoRet> = {
  name: 'STORAGE_VOL_GET_INFO',
  program: REMOTE_PROGRAM,
  number: 98,
  args: codecs.storageVolGetInfoArgsCodec,
  ret: codecs.storageVolGetInfoRetCodec,
};

export const storageVolGetXmlDesc: Procedure<types.StorageVolGetXmlDescArgs, types.StorageVolGetXmlDescRet> = {
  name: 'STORAGE_VOL_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 99,
  args: codecs.storageVolGetXmlDescArgsCodec,
  ret: codecs.storageVolGetXmlDescRetCodec,
};

export const storageVolGetPath: Procedure<types.StorageVolGetPathArgs, types.StorageVolGetPathRet> = {
  name: 'STORAGE_VOL_GET_PATH',
  program: REMOTE_PROGRAM,
  number: 100,
  args: codecs.storageVolGetPathArgsCodec,
  ret: codecs.storageVolGetPathRetCodec,
};

export const nodeGetCellsFreeMemory: Procedure<types.NodeGetCellsFreeMemoryArgs, types.NodeGetCellsFreeMemoryRet> = {
  name: 'NODE_GET_CELLS_FREE_MEMORY',
  program: REMOTE_PROGRAM,
  number: 101,
  args: codecs.nodeGetCellsFreeMemoryArgsCodec,
  ret: codecs.nodeGetCellsFreeMemoryRetCodec,
};

export const nodeGetFreeMemory: Procedure<void, types.NodeGetFreeMemoryRet> = {
  name: 'NODE_GET_FREE_MEMORY',
  program: REMOTE_PROGRAM,
  number: 102,
  args: nothing,
  ret: codecs.nodeGetFreeMemoryRetCodec,
};

export const domainBlockPeek: Procedure<types.DomainBlockPeekArgs, types.DomainBlockPeekRet> = {
  name: 'DOMAIN_BLOCK_PEEK',
  program: REMOTE_PROGRAM,
  number: 103,
  args: codecs.domainBlockPeekArgsCodec,
  ret: codecs.domainBlockPeekRetCodec,
};

export const domainMemoryPeek: Procedure<types.DomainMemoryPeekArgs, types.DomainMemoryPeekRet> = {
  name: 'DOMAIN_MEMORY_PEEK',
  program: REMOTE_PROGRAM,
  number: 104,
  args: codecs.domainMemoryPeekArgsCodec,
  ret: codecs.domainMemoryPeekRetCodec,
};

export const connectDomainEventRegister: Procedure<void, types.ConnectDomainEventRegisterRet> = {
  name: 'CONNECT_DOMAIN_EVENT_REGISTER',
  program: REMOTE_PROGRAM,
  number: 105,
  args: nothing,
  ret: codecs.connectDomainEventRegisterRetCodec,
};

export const connectDomainEventDeregister: Procedure<void, types.ConnectDomainEventDeregisterRet> = {
  name: 'CONNECT_DOMAIN_EVENT_DEREGISTER',
  program: REMOTE_PROGRAM,
  number: 106,
  args: nothing,
  ret: codecs.connectDomainEventDeregisterRetCodec,
};

export const domainMigratePrepare2: Procedure<types.DomainMigratePrepare2Args, types.DomainMigratePrepare2Ret> = {
  name: 'DOMAIN_MIGRATE_PREPARE2',
  program: REMOTE_PROGRAM,
  number: 108,
  args: codecs.domainMigratePrepare2ArgsCodec,
  ret: codecs.domainMigratePrepare2RetCodec,
};

export const domainMigrateFinish2: Procedure<types.DomainMigrateFinish2Args, types.DomainMigrateFinish2Ret> = {
  name: 'DOMAIN_MIGRATE_FINISH2',
  program: REMOTE_PROGRAM,
  number: 109,
  args: codecs.domainMigrateFinish2ArgsCodec,
  ret: codecs.domainMigrateFinish2RetCodec,
};

export const connectGetUri: Procedure<void, types.ConnectGetUriRet> = {
  name: 'CONNECT_GET_URI',
  program: REMOTE_PROGRAM,
  number: 110,
  args: nothing,
  ret: codecs.connectGetUriRetCodec,
};

export const nodeNumOfDevices: Procedure<types.NodeNumOfDevicesArgs, types.NodeNumOfDevicesRet> = {
  name: 'NODE_NUM_OF_DEVICES',
  program: REMOTE_PROGRAM,
  number: 111,
  args: codecs.nodeNumOfDevicesArgsCodec,
  ret: codecs.nodeNumOfDevicesRetCodec,
};

export const nodeListDevices: Procedure<types.NodeListDevicesArgs, types.NodeListDevicesRet> = {
  name: 'NODE_LIST_DEVICES',
  program: REMOTE_PROGRAM,
  number: 112,
  args: codecs.nodeListDevicesArgsCodec,
  ret: codecs.nodeListDevicesRetCodec,
};

export const nodeDeviceLookupByName: Procedure<types.NodeDeviceLookupByNameArgs, types.NodeDeviceLookupByNameRet> = {
  name: 'NODE_DEVICE_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 113,
  args: codecs.nodeDeviceLookupByNameArgsCodec,
  ret: codecs.nodeDeviceLookupByNameRetCodec,
};

export const nodeDeviceGetXmlDesc: Procedure<types.NodeDeviceGetXmlDescArgs, types.NodeDeviceGetXmlDescRet> = {
  name: 'NODE_DEVICE_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 114,
  args: codecs.nodeDeviceGetXmlDescArgsCodec,
  ret: codecs.nodeDeviceGetXmlDescRetCodec,
};

export const nodeDeviceGetParent: Procedure<types.NodeDeviceGetParentArgs, types.NodeDeviceGetParentRet> = {
  name: 'NODE_DEVICE_GET_PARENT',
  program: REMOTE_PROGRAM,
  number: 115,
  args: codecs.nodeDeviceGetParentArgsCodec,
  ret: codecs.nodeDeviceGetParentRetCodec,
};

export const nodeDeviceNumOfCaps: Procedure<types.NodeDeviceNumOfCapsArgs, types.NodeDeviceNumOfCapsRet> = {
  name: 'NODE_DEVICE_NUM_OF_CAPS',
  program: REMOTE_PROGRAM,
  number: 116,
  args: codecs.nodeDeviceNumOfCapsArgsCodec,
  ret: codecs.nodeDeviceNumOfCapsRetCodec,
};

export const nodeDeviceListCaps: Procedure<types.NodeDeviceListCapsArgs, types.NodeDeviceListCapsRet> = {
  name: 'NODE_DEVICE_LIST_CAPS',
  program: REMOTE_PROGRAM,
  number: 117,
  args: codecs.nodeDeviceListCapsArgsCodec,
  ret: codecs.nodeDeviceListCapsRetCodec,
};

export const nodeDeviceDettach: Procedure<types.NodeDeviceDettachArgs, void> = {
  name: 'NODE_DEVICE_DETTACH',
  program: REMOTE_PROGRAM,
  number: 118,
  args: codecs.nodeDeviceDettachArgsCodec,
  ret: nothing,
};

export const nodeDeviceReAttach: Procedure<types.NodeDeviceReAttachArgs, void> = {
  name: 'NODE_DEVICE_RE_ATTACH',
  program: REMOTE_PROGRAM,
  number: 119,
  args: codecs.nodeDeviceReAttachArgsCodec,
  ret: nothing,
};

export const nodeDeviceReset: Procedure<types.NodeDeviceResetArgs, void> = {
  name: 'NODE_DEVICE_RESET',
  program: REMOTE_PROGRAM,
  number: 120,
  args: codecs.nodeDeviceResetArgsCodec,
  ret: nothing,
};

export const domainGetSecurityLabel: Procedure<types.DomainGetSecurityLabelArgs, types.DomainGetSecurityLabelRet> = {
  name: 'DOMAIN_GET_SECURITY_LABEL',
  program: REMOTE_PROGRAM,
  number: 121,
  args: codecs.domainGetSecurityLabelArgsCodec,
  ret: codecs.domainGetSecurityLabelRetCodec,
};

export const nodeGetSecurityModel: Procedure<void, types.NodeGetSecurityModelRet> = {
  name: 'NODE_GET_SECURITY_MODEL',
  program: REMOTE_PROGRAM,
  number: 122,
  args: nothing,
  ret: codecs.nodeGetSecurityModelRetCodec,
};

export const nodeDeviceCreateXml: Procedure<types.NodeDeviceCreateXmlArgs, types.NodeDeviceCreateXmlRet> = {
  name: 'NODE_DEVICE_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 123,
  args: codecs.nodeDeviceCreateXmlArgsCodec,
  ret: codecs.nodeDeviceCreateXmlRetCodec,
};

export const nodeDeviceDestroy: Procedure<types.NodeDeviceDestroyArgs, void> = {
  name: 'NODE_DEVICE_DESTROY',
  program: REMOTE_PROGRAM,
  number: 124,
  args: codecs.nodeDeviceDestroyArgsCodec,
  ret: nothing,
};

export const storageVolCreateXmlFrom: Procedure<types.StorageVolCreateXmlFromArgs, types.StorageVolCreateXmlFromRet> = {
  name: 'STORAGE_VOL_CREATE_XML_FROM',
  program: REMOTE_PROGRAM,
  number: 125,
  args: codecs.storageVolCreateXmlFromArgsCodec,
  ret: codecs.storageVolCreateXmlFromRetCodec,
};

export const connectNumOfInterfaces: Procedure<void, types.ConnectNumOfInterfacesRet> = {
  name: 'CONNECT_NUM_OF_INTERFACES',
  program: REMOTE_PROGRAM,
  number: 126,
  args: nothing,
  ret: codecs.connectNumOfInterfacesRetCodec,
};

export const connectListInterfaces: Procedure<types.ConnectListInterfacesArgs, types.ConnectListInterfacesRet> = {
  name: 'CONNECT_LIST_INTERFACES',
  program: REMOTE_PROGRAM,
  number: 127,
  args: codecs.connectListInterfacesArgsCodec,
  ret: codecs.connectListInterfacesRetCodec,
};

export const interfaceLookupByName: Procedure<types.InterfaceLookupByNameArgs, types.InterfaceLookupByNameRet> = {
  name: 'INTERFACE_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 128,
  args: codecs.interfaceLookupByNameArgsCodec,
  ret: codecs.interfaceLookupByNameRetCodec,
};

export const interfaceLookupByMacString: Procedure<types.InterfaceLookupByMacStringArgs, types.InterfaceLookupByMacStringRet> = {
  name: 'INTERFACE_LOOKUP_BY_MAC_STRING',
  program: REMOTE_PROGRAM,
  number: 129,
  args: codecs.interfaceLookupByMacStringArgsCodec,
  ret: codecs.interfaceLookupByMacStringRetCodec,
};

export const interfaceGetXmlDesc: Procedure<types.InterfaceGetXmlDescArgs, types.InterfaceGetXmlDescRet> = {
  name: 'INTERFACE_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 130,
  args: codecs.interfaceGetXmlDescArgsCodec,
  ret: codecs.interfaceGetXmlDescRetCodec,
};

export const interfaceDefineXml: Procedure<types.InterfaceDefineXmlArgs, types.InterfaceDefineXmlRet> = {
  name: 'INTERFACE_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 131,
  args: codecs.interfaceDefineXmlArgsCodec,
  ret: codecs.interfaceDefineXmlRetCodec,
};

export const interfaceUndefine: Procedure<types.InterfaceUndefineArgs, void> = {
  name: 'INTERFACE_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 132,
  args: codecs.interfaceUndefineArgsCodec,
  ret: nothing,
};

export const interfaceCreate: Procedure<types.InterfaceCreateArgs, void> = {
  name: 'INTERFACE_CREATE',
  program: REMOTE_PROGRAM,
  number: 133,
  args: codecs.interfaceCreateArgsCodec,
  ret: nothing,
};

export const interfaceDestroy: Procedure<types.InterfaceDestroyArgs, void> = {
  name: 'INTERFACE_DESTROY',
  program: REMOTE_PROGRAM,
  number: 134,
  args: codecs.interfaceDestroyArgsCodec,
  ret: nothing,
};

export const connectDomainXmlFromNative: Procedure<types.ConnectDomainXmlFromNativeArgs, types.ConnectDomainXmlFromNativeRet> = {
  name: 'CONNECT_DOMAIN_XML_FROM_NATIVE',
  program: REMOTE_PROGRAM,
  number: 135,
  args: codecs.connectDomainXmlFromNativeArgsCodec,
  ret: codecs.connectDomainXmlFromNativeRetCodec,
};

export const connectDomainXmlToNative: Procedure<types.ConnectDomainXmlToNativeArgs, types.ConnectDomainXmlToNativeRet> = {
  name: 'CONNECT_DOMAIN_XML_TO_NATIVE',
  program: REMOTE_PROGRAM,
  number: 136,
  args: codecs.connectDomainXmlToNativeArgsCodec,
  ret: codecs.connectDomainXmlToNativeRetCodec,
};

export const connectNumOfDefinedInterfaces: Procedure<void, types.ConnectNumOfDefinedInterfacesRet> = {
  name: 'CONNECT_NUM_OF_DEFINED_INTERFACES',
  program: REMOTE_PROGRAM,
  number: 137,
  args: nothing,
  ret: codecs.connectNumOfDefinedInterfacesRetCodec,
};

export const connectListDefinedInterfaces: Procedure<types.ConnectListDefinedInterfacesArgs, types.ConnectListDefinedInterfacesRet> = {
  name: 'CONNECT_LIST_DEFINED_INTERFACES',
  program: REMOTE_PROGRAM,
  number: 138,
  args: codecs.connectListDefinedInterfacesArgsCodec,
  ret: codecs.connectListDefinedInterfacesRetCodec,
};

export const connectNumOfSecrets: Procedure<void, types.ConnectNumOfSecretsRet> = {
  name: 'CONNECT_NUM_OF_SECRETS',
  program: REMOTE_PROGRAM,
  number: 139,
  args: nothing,
  ret: codecs.connectNumOfSecretsRetCodec,
};

export const connectListSecrets: Procedure<types.ConnectListSecretsArgs, types.ConnectListSecretsRet> = {
  name: 'CONNECT_LIST_SECRETS',
  program: REMOTE_PROGRAM,
  number: 140,
  args: codecs.connectListSecretsArgsCodec,
  ret: codecs.connectListSecretsRetCodec,
};

export const secretLookupByUuid: Procedure<types.SecretLookupByUuidArgs, types.SecretLookupByUuidRet> = {
  name: 'SECRET_LOOKUP_BY_UUID',
  program: REMOTE_PROGRAM,
  number: 141,
  args: codecs.secretLookupByUuidArgsCodec,
  ret: codecs.secretLookupByUuidRetCodec,
};

export const secretDefineXml: Procedure<types.SecretDefineXmlArgs, types.SecretDefineXmlRet> = {
  name: 'SECRET_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 142,
  args: codecs.secretDefineXmlArgsCodec,
  ret: codecs.secretDefineXmlRetCodec,
};

export const secretGetXmlDesc: Procedure<types.SecretGetXmlDescArgs, types.SecretGetXmlDescRet> = {
  name: 'SECRET_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 143,
  args: codecs.secretGetXmlDescArgsCodec,
  ret: codecs.secretGetXmlDescRetCodec,
};

export const secretSetValue: Procedure<types.SecretSetValueArgs, void> = {
  name: 'SECRET_SET_VALUE',
  program: REMOTE_PROGRAM,
  number: 144,
  args: codecs.secretSetValueArgsCodec,
  ret: nothing,
};

export const secretGetValue: Procedure<types.SecretGetValueArgs, types.SecretGetValueRet> = {
  name: 'SECRET_GET_VALUE',
  program: REMOTE_PROGRAM,
  number: 145,
  args: codecs.secretGetValueArgsCodec,
  ret: codecs.secretGetValueRetCodec,
};

export const secretUndefine: Procedure<types.SecretUndefineArgs, void> = {
  name: 'SECRET_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 146,
  args: codecs.secretUndefineArgsCodec,
  ret: nothing,
};

export const secretLookupByUsage: Procedure<types.SecretLookupByUsageArgs, types.SecretLookupByUsageRet> = {
  name: 'SECRET_LOOKUP_BY_USAGE',
  program: REMOTE_PROGRAM,
  number: 147,
  args: codecs.secretLookupByUsageArgsCodec,
  ret: codecs.secretLookupByUsageRetCodec,
};

export const domainMigratePrepareTunnel: StreamProcedure<types.DomainMigratePrepareTunnelArgs, void> = {
  name: 'DOMAIN_MIGRATE_PREPARE_TUNNEL',
  program: REMOTE_PROGRAM,
  number: 148,
  args: codecs.domainMigratePrepareTunnelArgsCodec,
  ret: nothing,
  stream: true,
};

export const connectIsSecure: Procedure<void, types.ConnectIsSecureRet> = {
  name: 'CONNECT_IS_SECURE',
  program: REMOTE_PROGRAM,
  number: 149,
  args: nothing,
  ret: codecs.connectIsSecureRetCodec,
};

export const domainIsActive: Procedure<types.DomainIsActiveArgs, types.DomainIsActiveRet> = {
  name: 'DOMAIN_IS_ACTIVE',
  program: REMOTE_PROGRAM,
  number: 150,
  args: codecs.domainIsActiveArgsCodec,
  ret: codecs.domainIsActiveRetCodec,
};

export const domainIsPersistent: Procedure<types.DomainIsPersistentArgs, types.DomainIsPersistentRet> = {
  name: 'DOMAIN_IS_PERSISTENT',
  program: REMOTE_PROGRAM,
  number: 151,
  args: codecs.domainIsPersistentArgsCodec,
  ret: codecs.domainIsPersistentRetCodec,
};

export const networkIsActive: Procedure<types.NetworkIsActiveArgs, types.NetworkIsActiveRet> = {
  name: 'NETWORK_IS_ACTIVE',
  program: REMOTE_PROGRAM,
  number: 152,
  args: codecs.networkIsActiveArgsCodec,
  ret: codecs.networkIsActiveRetCodec,
};

export const networkIsPersistent: Procedure<types.NetworkIsPersistentArgs, types.NetworkIsPersistentRet> = {
  name: 'NETWORK_IS_PERSISTENT',
  program: REMOTE_PROGRAM,
  number: 153,
  args: codecs.networkIsPersistentArgsCodec,
  ret: codecs.networkIsPersistentRetCodec,
};

export const storagePoolIsActive: Procedure<types.StoragePoolIsActiveArgs, types.StoragePoolIsActiveRet> = {
  name: 'STORAGE_POOL_IS_ACTIVE',
  program: REMOTE_PROGRAM,
  number: 154,
  args: codecs.storagePoolIsActiveArgsCodec,
  ret: codecs.storagePoolIsActiveRetCodec,
};

export const storagePoolIsPersistent: Procedure<types.StoragePoolIsPersistentArgs, types.StoragePoolIsPersistentRet> = {
  name: 'STORAGE_POOL_IS_PERSISTENT',
  program: REMOTE_PROGRAM,
  number: 155,
  args: codecs.storagePoolIsPersistentArgsCodec,
  ret: codecs.storagePoolIsPersistentRetCodec,
};

export const interfaceIsActive: Procedure<types.InterfaceIsActiveArgs, types.InterfaceIsActiveRet> = {
  name: 'INTERFACE_IS_ACTIVE',
  program: REMOTE_PROGRAM,
  number: 156,
  args: codecs.interfaceIsActiveArgsCodec,
  ret: codecs.interfaceIsActiveRetCodec,
};

export const connectGetLibVersion: Procedure<void, types.ConnectGetLibVersionRet> = {
  name: 'CONNECT_GET_LIB_VERSION',
  program: REMOTE_PROGRAM,
  number: 157,
  args: nothing,
  ret: codecs.connectGetLibVersionRetCodec,
};

export const connectCompareCpu: Procedure<types.ConnectCompareCpuArgs, types.ConnectCompareCpuRet> = {
  name: 'CONNECT_COMPARE_CPU',
  program: REMOTE_PROGRAM,
  number: 158,
  args: codecs.connectCompareCpuArgsCodec,
  ret: codecs.connectCompareCpuRetCodec,
};

export const domainMemoryStats: Procedure<types.DomainMemoryStatsArgs, types.DomainMemoryStatsRet> = {
  name: 'DOMAIN_MEMORY_STATS',
  program: REMOTE_PROGRAM,
  number: 159,
  args: codecs.domainMemoryStatsArgsCodec,
  ret: codecs.domainMemoryStatsRetCodec,
};

export const domainAttachDeviceFlags: Procedure<types.DomainAttachDeviceFlagsArgs, void> = {
  name: 'DOMAIN_ATTACH_DEVICE_FLAGS',
  program: REMOTE_PROGRAM,
  number: 160,
  args: codecs.domainAttachDeviceFlagsArgsCodec,
  ret: nothing,
};

export const domainDetachDeviceFlags: Procedure<types.DomainDetachDeviceFlagsArgs, void> = {
  name: 'DOMAIN_DETACH_DEVICE_FLAGS',
  program: REMOTE_PROGRAM,
  number: 161,
  args: codecs.domainDetachDeviceFlagsArgsCodec,
  ret: nothing,
};

export const connectBaselineCpu: Procedure<types.ConnectBaselineCpuArgs, types.ConnectBaselineCpuRet> = {
  name: 'CONNECT_BASELINE_CPU',
  program: REMOTE_PROGRAM,
  number: 162,
  args: codecs.connectBaselineCpuArgsCodec,
  ret: codecs.connectBaselineCpuRetCodec,
};

export const domainGetJobInfo: Procedure<types.DomainGetJobInfoArgs, types.DomainGetJobInfoRet> = {
  name: 'DOMAIN_GET_JOB_INFO',
  program: REMOTE_PROGRAM,
  number: 163,
  args: codecs.domainGetJobInfoArgsCodec,
  ret: codecs.domainGetJobInfoRetCodec,
};

export const domainAbortJob: Procedure<types.DomainAbortJobArgs, void> = {
  name: 'DOMAIN_ABORT_JOB',
  program: REMOTE_PROGRAM,
  number: 164,
  args: codecs.domainAbortJobArgsCodec,
  ret: nothing,
};

export const storageVolWipe: Procedure<types.StorageVolWipeArgs, void> = {
  name: 'STORAGE_VOL_WIPE',
  program: REMOTE_PROGRAM,
  number: 165,
  args: codecs.storageVolWipeArgsCodec,
  ret: nothing,
};

export const domainMigrateSetMaxDowntime: Procedure<types.DomainMigrateSetMaxDowntimeArgs, void> = {
  name: 'DOMAIN_MIGRATE_SET_MAX_DOWNTIME',
  program: REMOTE_PROGRAM,
  number: 166,
  args: codecs.domainMigrateSetMaxDowntimeArgsCodec,
  ret: nothing,
};

export const connectDomainEventRegisterAny: Procedure<types.ConnectDomainEventRegisterAnyArgs, void> = {
  name: 'CONNECT_DOMAIN_EVENT_REGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 167,
  args: codecs.connectDomainEventRegisterAnyArgsCodec,
  ret: nothing,
};

export const connectDomainEventDeregisterAny: Procedure<types.ConnectDomainEventDeregisterAnyArgs, void> = {
  name: 'CONNECT_DOMAIN_EVENT_DEREGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 168,
  args: codecs.connectDomainEventDeregisterAnyArgsCodec,
  ret: nothing,
};

export const domainUpdateDeviceFlags: Procedure<types.DomainUpdateDeviceFlagsArgs, void> = {
  name: 'DOMAIN_UPDATE_DEVICE_FLAGS',
  program: REMOTE_PROGRAM,
  number: 174,
  args: codecs.domainUpdateDeviceFlagsArgsCodec,
  ret: nothing,
};

export const nwfilterLookupByName: Procedure<types.NwfilterLookupByNameArgs, types.NwfilterLookupByNameRet> = {
  name: 'NWFILTER_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 175,
  args: codecs.nwfilterLookupByNameArgsCodec,
  ret: codecs.nwfilterLookupByNameRetCodec,
};

export const nwfilterLookupByUuid: Procedure<types.NwfilterLookupByUuidArgs, types.NwfilterLookupByUuidRet> = {
  name: 'NWFILTER_LOOKUP_BY_UUID',
  program: REMOTE_PROGRAM,
  number: 176,
  args: codecs.nwfilterLookupByUuidArgsCodec,
  ret: codecs.nwfilterLookupByUuidRetCodec,
};

export const nwfilterGetXmlDesc: Procedure<types.NwfilterGetXmlDescArgs, types.NwfilterGetXmlDescRet> = {
  name: 'NWFILTER_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 177,
  args: codecs.nwfilterGetXmlDescArgsCodec,
  ret: codecs.nwfilterGetXmlDescRetCodec,
};

export const connectNumOfNwfilters: Procedure<void, types.ConnectNumOfNwfiltersRet> = {
  name: 'CONNECT_NUM_OF_NWFILTERS',
  program: REMOTE_PROGRAM,
  number: 178,
  args: nothing,
  ret: codecs.connectNumOfNwfiltersRetCodec,
};

export const connectListNwfilters: Procedure<types.ConnectListNwfiltersArgs, types.ConnectListNwfiltersRet> = {
  name: 'CONNECT_LIST_NWFILTERS',
  program: REMOTE_PROGRAM,
  number: 179,
  args: codecs.connectListNwfiltersArgsCodec,
  ret: codecs.connectListNwfiltersRetCodec,
};

export const nwfilterDefineXml: Procedure<types.NwfilterDefineXmlArgs, types.NwfilterDefineXmlRet> = {
  name: 'NWFILTER_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 180,
  args: codecs.nwfilterDefineXmlArgsCodec,
  ret: codecs.nwfilterDefineXmlRetCodec,
};

export const nwfilterUndefine: Procedure<types.NwfilterUndefineArgs, void> = {
  name: 'NWFILTER_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 181,
  args: codecs.nwfilterUndefineArgsCodec,
  ret: nothing,
};

export const domainManagedSave: Procedure<types.DomainManagedSaveArgs, void> = {
  name: 'DOMAIN_MANAGED_SAVE',
  program: REMOTE_PROGRAM,
  number: 182,
  args: codecs.domainManagedSaveArgsCodec,
  ret: nothing,
};

export const domainHasManagedSaveImage: Procedure<types.DomainHasManagedSaveImageArgs, types.DomainHasManagedSaveImageRet> = {
  name: 'DOMAIN_HAS_MANAGED_SAVE_IMAGE',
  program: REMOTE_PROGRAM,
  number: 183,
  args: codecs.domainHasManagedSaveImageArgsCodec,
  ret: codecs.domainHasManagedSaveImageRetCodec,
};

export const domainManagedSaveRemove: Procedure<types.DomainManagedSaveRemoveArgs, void> = {
  name: 'DOMAIN_MANAGED_SAVE_REMOVE',
  program: REMOTE_PROGRAM,
  number: 184,
  args: codecs.domainManagedSaveRemoveArgsCodec,
  ret: nothing,
};

export const domainSnapshotCreateXml: Procedure<types.DomainSnapshotCreateXmlArgs, types.DomainSnapshotCreateXmlRet> = {
  name: 'DOMAIN_SNAPSHOT_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 185,
  args: codecs.domainSnapshotCreateXmlArgsCodec,
  ret: codecs.domainSnapshotCreateXmlRetCodec,
};

export const domainSnapshotGetXmlDesc: Procedure<types.DomainSnapshotGetXmlDescArgs, types.DomainSnapshotGetXmlDescRet> = {
  name: 'DOMAIN_SNAPSHOT_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 186,
  args: codecs.domainSnapshotGetXmlDescArgsCodec,
  ret: codecs.domainSnapshotGetXmlDescRetCodec,
};

export const domainSnapshotNum: Procedure<types.DomainSnapshotNumArgs, types.DomainSnapshotNumRet> = {
  name: 'DOMAIN_SNAPSHOT_NUM',
  program: REMOTE_PROGRAM,
  number: 187,
  args: codecs.domainSnapshotNumArgsCodec,
  ret: codecs.domainSnapshotNumRetCodec,
};

export const domainSnapshotListNames: Procedure<types.DomainSnapshotListNamesArgs, types.DomainSnapshotListNamesRet> = {
  name: 'DOMAIN_SNAPSHOT_LIST_NAMES',
  program: REMOTE_PROGRAM,
  number: 188,
  args: codecs.domainSnapshotListNamesArgsCodec,
  ret: codecs.domainSnapshotListNamesRetCodec,
};

export const domainSnapshotLookupByName: Procedure<types.DomainSnapshotLookupByNameArgs, types.DomainSnapshotLookupByNameRet> = {
  name: 'DOMAIN_SNAPSHOT_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 189,
  args: codecs.domainSnapshotLookupByNameArgsCodec,
  ret: codecs.domainSnapshotLookupByNameRetCodec,
};

export const domainHasCurrentSnapshot: Procedure<types.DomainHasCurrentSnapshotArgs, types.DomainHasCurrentSnapshotRet> = {
  name: 'DOMAIN_HAS_CURRENT_SNAPSHOT',
  program: REMOTE_PROGRAM,
  number: 190,
  args: codecs.domainHasCurrentSnapshotArgsCodec,
  ret: codecs.domainHasCurrentSnapshotRetCodec,
};

export const domainSnapshotCurrent: Procedure<types.DomainSnapshotCurrentArgs, types.DomainSnapshotCurrentRet> = {
  name: 'DOMAIN_SNAPSHOT_CURRENT',
  program: REMOTE_PROGRAM,
  number: 191,
  args: codecs.domainSnapshotCurrentArgsCodec,
  ret: codecs.domainSnapshotCurrentRetCodec,
};

export const domainRevertToSnapshot: Procedure<types.DomainRevertToSnapshotArgs, void> = {
  name: 'DOMAIN_REVERT_TO_SNAPSHOT',
  program: REMOTE_PROGRAM,
  number: 192,
  args: codecs.domainRevertToSnapshotArgsCodec,
  ret: nothing,
};

export const domainSnapshotDelete: Procedure<types.DomainSnapshotDeleteArgs, void> = {
  name: 'DOMAIN_SNAPSHOT_DELETE',
  program: REMOTE_PROGRAM,
  number: 193,
  args: codecs.domainSnapshotDeleteArgsCodec,
  ret: nothing,
};

export const domainGetBlockInfo: Procedure<types.DomainGetBlockInfoArgs, types.DomainGetBlockInfoRet> = {
  name: 'DOMAIN_GET_BLOCK_INFO',
  program: REMOTE_PROGRAM,
  number: 194,
  args: codecs.domainGetBlockInfoArgsCodec,
  ret: codecs.domainGetBlockInfoRetCodec,
};

export const domainCreateWithFlags: Procedure<types.DomainCreateWithFlagsArgs, types.DomainCreateWithFlagsRet> = {
  name: 'DOMAIN_CREATE_WITH_FLAGS',
  program: REMOTE_PROGRAM,
  number: 196,
  args: codecs.domainCreateWithFlagsArgsCodec,
  ret: codecs.domainCreateWithFlagsRetCodec,
};

export const domainSetMemoryParameters: Procedure<types.DomainSetMemoryParametersArgs, void> = {
  name: 'DOMAIN_SET_MEMORY_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 197,
  args: codecs.domainSetMemoryParametersArgsCodec,
  ret: nothing,
};

export const domainGetMemoryParameters: Procedure<types.DomainGetMemoryParametersArgs, types.DomainGetMemoryParametersRet> = {
  name: 'DOMAIN_GET_MEMORY_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 198,
  args: codecs.domainGetMemoryParametersArgsCodec,
  ret: codecs.domainGetMemoryParametersRetCodec,
};

export const domainSetVcpusFlags: Procedure<types.DomainSetVcpusFlagsArgs, void> = {
  name: 'DOMAIN_SET_VCPUS_FLAGS',
  program: REMOTE_PROGRAM,
  number: 199,
  args: codecs.domainSetVcpusFlagsArgsCodec,
  ret: nothing,
};

export const domainGetVcpusFlags: Procedure<types.DomainGetVcpusFlagsArgs, types.DomainGetVcpusFlagsRet> = {
  name: 'DOMAIN_GET_VCPUS_FLAGS',
  program: REMOTE_PROGRAM,
  number: 200,
  args: codecs.domainGetVcpusFlagsArgsCodec,
  ret: codecs.domainGetVcpusFlagsRetCodec,
};

export const domainOpenConsole: StreamProcedure<types.DomainOpenConsoleArgs, void> = {
  name: 'DOMAIN_OPEN_CONSOLE',
  program: REMOTE_PROGRAM,
  number: 201,
  args: codecs.domainOpenConsoleArgsCodec,
  ret: nothing,
  stream: true,
};

export const domainIsUpdated: Procedure<types.DomainIsUpdatedArgs, types.DomainIsUpdatedRet> = {
  name: 'DOMAIN_IS_UPDATED',
  program: REMOTE_PROGRAM,
  number: 202,
  args: codecs.domainIsUpdatedArgsCodec,
  ret: codecs.domainIsUpdatedRetCodec,
};

export const connectGetSysinfo: Procedure<types.ConnectGetSysinfoArgs, types.ConnectGetSysinfoRet> = {
  name: 'CONNECT_GET_SYSINFO',
  program: REMOTE_PROGRAM,
  number: 203,
  args: codecs.connectGetSysinfoArgsCodec,
  ret: codecs.connectGetSysinfoRetCodec,
};

export const domainSetMemoryFlags: Procedure<types.DomainSetMemoryFlagsArgs, void> = {
  name: 'DOMAIN_SET_MEMORY_FLAGS',
  program: REMOTE_PROGRAM,
  number: 204,
  args: codecs.domainSetMemoryFlagsArgsCodec,
  ret: nothing,
};

export const domainSetBlkioParameters: Procedure<types.DomainSetBlkioParametersArgs, void> = {
  name: 'DOMAIN_SET_BLKIO_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 205,
  args: codecs.domainSetBlkioParametersArgsCodec,
  ret: nothing,
};

export const domainGetBlkioParameters: Procedure<types.DomainGetBlkioParametersArgs, types.DomainGetBlkioParametersRet> = {
  name: 'DOMAIN_GET_BLKIO_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 206,
  args: codecs.domainGetBlkioParametersArgsCodec,
  ret: codecs.domainGetBlkioParametersRetCodec,
};

export const domainMigrateSetMaxSpeed: Procedure<types.DomainMigrateSetMaxSpeedArgs, void> = {
  name: 'DOMAIN_MIGRATE_SET_MAX_SPEED',
  program: REMOTE_PROGRAM,
  number: 207,
  args: codecs.domainMigrateSetMaxSpeedArgsCodec,
  ret: nothing,
};

export const storageVolUpload: StreamProcedure<types.StorageVolUploadArgs, void> = {
  name: 'STORAGE_VOL_UPLOAD',
  program: REMOTE_PROGRAM,
  number: 208,
  args: codecs.storageVolUploadArgsCodec,
  ret: nothing,
  stream: true,
};

export const storageVolDownload: StreamProcedure<types.StorageVolDownloadArgs, void> = {
  name: 'STORAGE_VOL_DOWNLOAD',
  program: REMOTE_PROGRAM,
  number: 209,
  args: codecs.storageVolDownloadArgsCodec,
  ret: nothing,
  stream: true,
};

export const domainInjectNmi: Procedure<types.DomainInjectNmiArgs, void> = {
  name: 'DOMAIN_INJECT_NMI',
  program: REMOTE_PROGRAM,
  number: 210,
  args: codecs.domainInjectNmiArgsCodec,
  ret: nothing,
};

export const domainScreenshot: StreamProcedure<types.DomainScreenshotArgs, types.DomainScreenshotRet> = {
  name: 'DOMAIN_SCREENSHOT',
  program: REMOTE_PROGRAM,
  number: 211,
  args: codecs.domainScreenshotArgsCodec,
  ret: codecs.domainScreenshotRetCodec,
  stream: true,
};

export const domainGetState: Procedure<types.DomainGetStateArgs, types.DomainGetStateRet> = {
  name: 'DOMAIN_GET_STATE',
  program: REMOTE_PROGRAM,
  number: 212,
  args: codecs.domainGetStateArgsCodec,
  ret: codecs.domainGetStateRetCodec,
};

export const domainMigrateBegin3: Procedure<types.DomainMigrateBegin3Args, types.DomainMigrateBegin3Ret> = {
  name: 'DOMAIN_MIGRATE_BEGIN3',
  program: REMOTE_PROGRAM,
  number: 213,
  args: codecs.domainMigrateBegin3ArgsCodec,
  ret: codecs.domainMigrateBegin3RetCodec,
};

export const domainMigratePrepare3: Procedure<types.DomainMigratePrepare3Args, types.DomainMigratePrepare3Ret> = {
  name: 'DOMAIN_MIGRATE_PREPARE3',
  program: REMOTE_PROGRAM,
  number: 214,
  args: codecs.domainMigratePrepare3ArgsCodec,
  ret: codecs.domainMigratePrepare3RetCodec,
};

export const domainMigratePrepareTunnel3: StreamProcedure<types.DomainMigratePrepareTunnel3Args, types.DomainMigratePrepareTunnel3Ret> = {
  name: 'DOMAIN_MIGRATE_PREPARE_TUNNEL3',
  program: REMOTE_PROGRAM,
  number: 215,
  args: codecs.domainMigratePrepareTunnel3ArgsCodec,
  ret: codecs.domainMigratePrepareTunnel3RetCodec,
  stream: true,
};

export const domainMigratePerform3: Procedure<types.DomainMigratePerform3Args, types.DomainMigratePerform3Ret> = {
  name: 'DOMAIN_MIGRATE_PERFORM3',
  program: REMOTE_PROGRAM,
  number: 216,
  args: codecs.domainMigratePerform3ArgsCodec,
  ret: codecs.domainMigratePerform3RetCodec,
};

export const domainMigrateFinish3: Procedure<types.DomainMigrateFinish3Args, types.DomainMigrateFinish3Ret> = {
  name: 'DOMAIN_MIGRATE_FINISH3',
  program: REMOTE_PROGRAM,
  number: 217,
  args: codecs.domainMigrateFinish3ArgsCodec,
  ret: codecs.domainMigrateFinish3RetCodec,
};

export const domainMigrateConfirm3: Procedure<types.DomainMigrateConfirm3Args, void> = {
  name: 'DOMAIN_MIGRATE_CONFIRM3',
  program: REMOTE_PROGRAM,
  number: 218,
  args: codecs.domainMigrateConfirm3ArgsCodec,
  ret: nothing,
};

export const domainSetSchedulerParametersFlags: Procedure<types.DomainSetSchedulerParametersFlagsArgs, void> = {
  name: 'DOMAIN_SET_SCHEDULER_PARAMETERS_FLAGS',
  program: REMOTE_PROGRAM,
  number: 219,
  args: codecs.domainSetSchedulerParametersFlagsArgsCodec,
  ret: nothing,
};

export const interfaceChangeBegin: Procedure<types.InterfaceChangeBeginArgs, void> = {
  name: 'INTERFACE_CHANGE_BEGIN',
  program: REMOTE_PROGRAM,
  number: 220,
  args: codecs.interfaceChangeBeginArgsCodec,
  ret: nothing,
};

export const interfaceChangeCommit: Procedure<types.InterfaceChangeCommitArgs, void> = {
  name: 'INTERFACE_CHANGE_COMMIT',
  program: REMOTE_PROGRAM,
  number: 221,
  args: codecs.interfaceChangeCommitArgsCodec,
  ret: nothing,
};

export const interfaceChangeRollback: Procedure<types.InterfaceChangeRollbackArgs, void> = {
  name: 'INTERFACE_CHANGE_ROLLBACK',
  program: REMOTE_PROGRAM,
  number: 222,
  args: codecs.interfaceChangeRollbackArgsCodec,
  ret: nothing,
};

export const domainGetSchedulerParametersFlags: Procedure<types.DomainGetSchedulerParametersFlagsArgs, types.DomainGetSchedulerParametersFlagsRet> = {
  name: 'DOMAIN_GET_SCHEDULER_PARAMETERS_FLAGS',
  program: REMOTE_PROGRAM,
  number: 223,
  args: codecs.domainGetSchedulerParametersFlagsArgsCodec,
  ret: codecs.domainGetSchedulerParametersFlagsRetCodec,
};

export const domainPinVcpuFlags: Procedure<types.DomainPinVcpuFlagsArgs, void> = {
  name: 'DOMAIN_PIN_VCPU_FLAGS',
  program: REMOTE_PROGRAM,
  number: 225,
  args: codecs.domainPinVcpuFlagsArgsCodec,
  ret: nothing,
};

export const domainSendKey: Procedure<types.DomainSendKeyArgs, void> = {
  name: 'DOMAIN_SEND_KEY',
  program: REMOTE_PROGRAM,
  number: 226,
  args: codecs.domainSendKeyArgsCodec,
  ret: nothing,
};

export const nodeGetCpuStats: Procedure<types.NodeGetCpuStatsArgs, types.NodeGetCpuStatsRet> = {
  name: 'NODE_GET_CPU_STATS',
  program: REMOTE_PROGRAM,
  number: 227,
  args: codecs.nodeGetCpuStatsArgsCodec,
  ret: codecs.nodeGetCpuStatsRetCodec,
};

export const nodeGetMemoryStats: Procedure<types.NodeGetMemoryStatsArgs, types.NodeGetMemoryStatsRet> = {
  name: 'NODE_GET_MEMORY_STATS',
  program: REMOTE_PROGRAM,
  number: 228,
  args: codecs.nodeGetMemoryStatsArgsCodec,
  ret: codecs.nodeGetMemoryStatsRetCodec,
};

export const domainGetControlInfo: Procedure<types.DomainGetControlInfoArgs, types.DomainGetControlInfoRet> = {
  name: 'DOMAIN_GET_CONTROL_INFO',
  program: REMOTE_PROGRAM,
  number: 229,
  args: codecs.domainGetControlInfoArgsCodec,
  ret: codecs.domainGetControlInfoRetCodec,
};

export const domainGetVcpuPinInfo: Procedure<types.DomainGetVcpuPinInfoArgs, types.DomainGetVcpuPinInfoRet> = {
  name: 'DOMAIN_GET_VCPU_PIN_INFO',
  program: REMOTE_PROGRAM,
  number: 230,
  args: codecs.domainGetVcpuPinInfoArgsCodec,
  ret: codecs.domainGetVcpuPinInfoRetCodec,
};

export const domainUndefineFlags: Procedure<types.DomainUndefineFlagsArgs, void> = {
  name: 'DOMAIN_UNDEFINE_FLAGS',
  program: REMOTE_PROGRAM,
  number: 231,
  args: codecs.domainUndefineFlagsArgsCodec,
  ret: nothing,
};

export const domainSaveFlags: Procedure<types.DomainSaveFlagsArgs, void> = {
  name: 'DOMAIN_SAVE_FLAGS',
  program: REMOTE_PROGRAM,
  number: 232,
  args: codecs.domainSaveFlagsArgsCodec,
  ret: nothing,
};

export const domainRestoreFlags: Procedure<types.DomainRestoreFlagsArgs, void> = {
  name: 'DOMAIN_RESTORE_FLAGS',
  program: REMOTE_PROGRAM,
  number: 233,
  args: codecs.domainRestoreFlagsArgsCodec,
  ret: nothing,
};

export const domainDestroyFlags: Procedure<types.DomainDestroyFlagsArgs, void> = {
  name: 'DOMAIN_DESTROY_FLAGS',
  program: REMOTE_PROGRAM,
  number: 234,
  args: codecs.domainDestroyFlagsArgsCodec,
  ret: nothing,
};

export const domainSaveImageGetXmlDesc: Procedure<types.DomainSaveImageGetXmlDescArgs, types.DomainSaveImageGetXmlDescRet> = {
  name: 'DOMAIN_SAVE_IMAGE_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 235,
  args: codecs.domainSaveImageGetXmlDescArgsCodec,
  ret: codecs.domainSaveImageGetXmlDescRetCodec,
};

export const domainSaveImageDefineXml: Procedure<types.DomainSaveImageDefineXmlArgs, void> = {
  name: 'DOMAIN_SAVE_IMAGE_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 236,
  args: codecs.domainSaveImageDefineXmlArgsCodec,
  ret: nothing,
};

export const domainBlockJobAbort: Procedure<types.DomainBlockJobAbortArgs, void> = {
  name: 'DOMAIN_BLOCK_JOB_ABORT',
  program: REMOTE_PROGRAM,
  number: 237,
  args: codecs.domainBlockJobAbortArgsCodec,
  ret: nothing,
};

export const domainGetBlockJobInfo: Procedure<types.DomainGetBlockJobInfoArgs, types.DomainGetBlockJobInfoRet> = {
  name: 'DOMAIN_GET_BLOCK_JOB_INFO',
  program: REMOTE_PROGRAM,
  number: 238,
  args: codecs.domainGetBlockJobInfoArgsCodec,
  ret: codecs.domainGetBlockJobInfoRetCodec,
};

export const domainBlockJobSetSpeed: Procedure<types.DomainBlockJobSetSpeedArgs, void> = {
  name: 'DOMAIN_BLOCK_JOB_SET_SPEED',
  program: REMOTE_PROGRAM,
  number: 239,
  args: codecs.domainBlockJobSetSpeedArgsCodec,
  ret: nothing,
};

export const domainBlockPull: Procedure<types.DomainBlockPullArgs, void> = {
  name: 'DOMAIN_BLOCK_PULL',
  program: REMOTE_PROGRAM,
  number: 240,
  args: codecs.domainBlockPullArgsCodec,
  ret: nothing,
};

export const domainMigrateGetMaxSpeed: Procedure<types.DomainMigrateGetMaxSpeedArgs, types.DomainMigrateGetMaxSpeedRet> = {
  name: 'DOMAIN_MIGRATE_GET_MAX_SPEED',
  program: REMOTE_PROGRAM,
  number: 242,
  args: codecs.domainMigrateGetMaxSpeedArgsCodec,
  ret: codecs.domainMigrateGetMaxSpeedRetCodec,
};

export const domainBlockStatsFlags: Procedure<types.DomainBlockStatsFlagsArgs, types.DomainBlockStatsFlagsRet> = {
  name: 'DOMAIN_BLOCK_STATS_FLAGS',
  program: REMOTE_PROGRAM,
  number: 243,
  args: codecs.domainBlockStatsFlagsArgsCodec,
  ret: codecs.domainBlockStatsFlagsRetCodec,
};

export const domainSnapshotGetParent: Procedure<types.DomainSnapshotGetParentArgs, types.DomainSnapshotGetParentRet> = {
  name: 'DOMAIN_SNAPSHOT_GET_PARENT',
  program: REMOTE_PROGRAM,
  number: 244,
  args: codecs.domainSnapshotGetParentArgsCodec,
  ret: codecs.domainSnapshotGetParentRetCodec,
};

export const domainReset: Procedure<types.DomainResetArgs, void> = {
  name: 'DOMAIN_RESET',
  program: REMOTE_PROGRAM,
  number: 245,
  args: codecs.domainResetArgsCodec,
  ret: nothing,
};

export const domainSnapshotNumChildren: Procedure<types.DomainSnapshotNumChildrenArgs, types.DomainSnapshotNumChildrenRet> = {
  name: 'DOMAIN_SNAPSHOT_NUM_CHILDREN',
  program: REMOTE_PROGRAM,
  number: 246,
  args: codecs.domainSnapshotNumChildrenArgsCodec,
  ret: codecs.domainSnapshotNumChildrenRetCodec,
};

export const domainSnapshotListChildrenNames: Procedure<types.DomainSnapshotListChildrenNamesArgs, types.DomainSnapshotListChildrenNamesRet> = {
  name: 'DOMAIN_SNAPSHOT_LIST_CHILDREN_NAMES',
  program: REMOTE_PROGRAM,
  number: 247,
  args: codecs.domainSnapshotListChildrenNamesArgsCodec,
  ret: codecs.domainSnapshotListChildrenNamesRetCodec,
};

export const domainOpenGraphics: Procedure<types.DomainOpenGraphicsArgs, void> = {
  name: 'DOMAIN_OPEN_GRAPHICS',
  program: REMOTE_PROGRAM,
  number: 249,
  args: codecs.domainOpenGraphicsArgsCodec,
  ret: nothing,
};

export const nodeSuspendForDuration: Procedure<types.NodeSuspendForDurationArgs, void> = {
  name: 'NODE_SUSPEND_FOR_DURATION',
  program: REMOTE_PROGRAM,
  number: 250,
  args: codecs.nodeSuspendForDurationArgsCodec,
  ret: nothing,
};

export const domainBlockResize: Procedure<types.DomainBlockResizeArgs, void> = {
  name: 'DOMAIN_BLOCK_RESIZE',
  program: REMOTE_PROGRAM,
  number: 251,
  args: codecs.domainBlockResizeArgsCodec,
  ret: nothing,
};

export const domainSetBlockIoTune: Procedure<types.DomainSetBlockIoTuneArgs, void> = {
  name: 'DOMAIN_SET_BLOCK_IO_TUNE',
  program: REMOTE_PROGRAM,
  number: 252,
  args: codecs.domainSetBlockIoTuneArgsCodec,
  ret: nothing,
};

export const domainGetBlockIoTune: Procedure<types.DomainGetBlockIoTuneArgs, types.DomainGetBlockIoTuneRet> = {
  name: 'DOMAIN_GET_BLOCK_IO_TUNE',
  program: REMOTE_PROGRAM,
  number: 253,
  args: codecs.domainGetBlockIoTuneArgsCodec,
  ret: codecs.domainGetBlockIoTuneRetCodec,
};

export const domainSetNumaParameters: Procedure<types.DomainSetNumaParametersArgs, void> = {
  name: 'DOMAIN_SET_NUMA_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 254,
  args: codecs.domainSetNumaParametersArgsCodec,
  ret: nothing,
};

export const domainGetNumaParameters: Procedure<types.DomainGetNumaParametersArgs, types.DomainGetNumaParametersRet> = {
  name: 'DOMAIN_GET_NUMA_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 255,
  args: codecs.domainGetNumaParametersArgsCodec,
  ret: codecs.domainGetNumaParametersRetCodec,
};

export const domainSetInterfaceParameters: Procedure<types.DomainSetInterfaceParametersArgs, void> = {
  name: 'DOMAIN_SET_INTERFACE_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 256,
  args: codecs.domainSetInterfaceParametersArgsCodec,
  ret: nothing,
};

export const domainGetInterfaceParameters: Procedure<types.DomainGetInterfaceParametersArgs, types.DomainGetInterfaceParametersRet> = {
  name: 'DOMAIN_GET_INTERFACE_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 257,
  args: codecs.domainGetInterfaceParametersArgsCodec,
  ret: codecs.domainGetInterfaceParametersRetCodec,
};

export const domainShutdownFlags: Procedure<types.DomainShutdownFlagsArgs, void> = {
  name: 'DOMAIN_SHUTDOWN_FLAGS',
  program: REMOTE_PROGRAM,
  number: 258,
  args: codecs.domainShutdownFlagsArgsCodec,
  ret: nothing,
};

export const storageVolWipePattern: Procedure<types.StorageVolWipePatternArgs, void> = {
  name: 'STORAGE_VOL_WIPE_PATTERN',
  program: REMOTE_PROGRAM,
  number: 259,
  args: codecs.storageVolWipePatternArgsCodec,
  ret: nothing,
};

export const storageVolResize: Procedure<types.StorageVolResizeArgs, void> = {
  name: 'STORAGE_VOL_RESIZE',
  program: REMOTE_PROGRAM,
  number: 260,
  args: codecs.storageVolResizeArgsCodec,
  ret: nothing,
};

export const domainPmSuspendForDuration: Procedure<types.DomainPmSuspendForDurationArgs, void> = {
  name: 'DOMAIN_PM_SUSPEND_FOR_DURATION',
  program: REMOTE_PROGRAM,
  number: 261,
  args: codecs.domainPmSuspendForDurationArgsCodec,
  ret: nothing,
};

export const domainGetCpuStats: Procedure<types.DomainGetCpuStatsArgs, types.DomainGetCpuStatsRet> = {
  name: 'DOMAIN_GET_CPU_STATS',
  program: REMOTE_PROGRAM,
  number: 262,
  args: codecs.domainGetCpuStatsArgsCodec,
  ret: codecs.domainGetCpuStatsRetCodec,
};

export const domainGetDiskErrors: Procedure<types.DomainGetDiskErrorsArgs, types.DomainGetDiskErrorsRet> = {
  name: 'DOMAIN_GET_DISK_ERRORS',
  program: REMOTE_PROGRAM,
  number: 263,
  args: codecs.domainGetDiskErrorsArgsCodec,
  ret: codecs.domainGetDiskErrorsRetCodec,
};

export const domainSetMetadata: Procedure<types.DomainSetMetadataArgs, void> = {
  name: 'DOMAIN_SET_METADATA',
  program: REMOTE_PROGRAM,
  number: 264,
  args: codecs.domainSetMetadataArgsCodec,
  ret: nothing,
};

export const domainGetMetadata: Procedure<types.DomainGetMetadataArgs, types.DomainGetMetadataRet> = {
  name: 'DOMAIN_GET_METADATA',
  program: REMOTE_PROGRAM,
  number: 265,
  args: codecs.domainGetMetadataArgsCodec,
  ret: codecs.domainGetMetadataRetCodec,
};

export const domainBlockRebase: Procedure<types.DomainBlockRebaseArgs, void> = {
  name: 'DOMAIN_BLOCK_REBASE',
  program: REMOTE_PROGRAM,
  number: 266,
  args: codecs.domainBlockRebaseArgsCodec,
  ret: nothing,
};

export const domainPmWakeup: Procedure<types.DomainPmWakeupArgs, void> = {
  name: 'DOMAIN_PM_WAKEUP',
  program: REMOTE_PROGRAM,
  number: 267,
  args: codecs.domainPmWakeupArgsCodec,
  ret: nothing,
};

export const domainSnapshotIsCurrent: Procedure<types.DomainSnapshotIsCurrentArgs, types.DomainSnapshotIsCurrentRet> = {
  name: 'DOMAIN_SNAPSHOT_IS_CURRENT',
  program: REMOTE_PROGRAM,
  number: 271,
  args: codecs.domainSnapshotIsCurrentArgsCodec,
  ret: codecs.domainSnapshotIsCurrentRetCodec,
};

export const domainSnapshotHasMetadata: Procedure<types.DomainSnapshotHasMetadataArgs, types.DomainSnapshotHasMetadataRet> = {
  name: 'DOMAIN_SNAPSHOT_HAS_METADATA',
  program: REMOTE_PROGRAM,
  number: 272,
  args: codecs.domainSnapshotHasMetadataArgsCodec,
  ret: codecs.domainSnapshotHasMetadataRetCodec,
};

export const connectListAllDomains: Procedure<types.ConnectListAllDomainsArgs, types.ConnectListAllDomainsRet> = {
  name: 'CONNECT_LIST_ALL_DOMAINS',
  program: REMOTE_PROGRAM,
  number: 273,
  args: codecs.connectListAllDomainsArgsCodec,
  ret: codecs.connectListAllDomainsRetCodec,
};

export const domainListAllSnapshots: Procedure<types.DomainListAllSnapshotsArgs, types.DomainListAllSnapshotsRet> = {
  name: 'DOMAIN_LIST_ALL_SNAPSHOTS',
  program: REMOTE_PROGRAM,
  number: 274,
  args: codecs.domainListAllSnapshotsArgsCodec,
  ret: codecs.domainListAllSnapshotsRetCodec,
};

export const domainSnapshotListAllChildren: Procedure<types.DomainSnapshotListAllChildrenArgs, types.DomainSnapshotListAllChildrenRet> = {
  name: 'DOMAIN_SNAPSHOT_LIST_ALL_CHILDREN',
  program: REMOTE_PROGRAM,
  number: 275,
  args: codecs.domainSnapshotListAllChildrenArgsCodec,
  ret: codecs.domainSnapshotListAllChildrenRetCodec,
};

export const domainGetHostname: Procedure<types.DomainGetHostnameArgs, types.DomainGetHostnameRet> = {
  name: 'DOMAIN_GET_HOSTNAME',
  program: REMOTE_PROGRAM,
  number: 277,
  args: codecs.domainGetHostnameArgsCodec,
  ret: codecs.domainGetHostnameRetCodec,
};

export const domainGetSecurityLabelList: Procedure<types.DomainGetSecurityLabelListArgs, types.DomainGetSecurityLabelListRet> = {
  name: 'DOMAIN_GET_SECURITY_LABEL_LIST',
  program: REMOTE_PROGRAM,
  number: 278,
  args: codecs.domainGetSecurityLabelListArgsCodec,
  ret: codecs.domainGetSecurityLabelListRetCodec,
};

export const domainPinEmulator: Procedure<types.DomainPinEmulatorArgs, void> = {
  name: 'DOMAIN_PIN_EMULATOR',
  program: REMOTE_PROGRAM,
  number: 279,
  args: codecs.domainPinEmulatorArgsCodec,
  ret: nothing,
};

export const domainGetEmulatorPinInfo: Procedure<types.DomainGetEmulatorPinInfoArgs, types.DomainGetEmulatorPinInfoRet> = {
  name: 'DOMAIN_GET_EMULATOR_PIN_INFO',
  program: REMOTE_PROGRAM,
  number: 280,
  args: codecs.domainGetEmulatorPinInfoArgsCodec,
  ret: codecs.domainGetEmulatorPinInfoRetCodec,
};

export const connectListAllStoragePools: Procedure<types.ConnectListAllStoragePoolsArgs, types.ConnectListAllStoragePoolsRet> = {
  name: 'CONNECT_LIST_ALL_STORAGE_POOLS',
  program: REMOTE_PROGRAM,
  number: 281,
  args: codecs.connectListAllStoragePoolsArgsCodec,
  ret: codecs.connectListAllStoragePoolsRetCodec,
};

export const storagePoolListAllVolumes: Procedure<types.StoragePoolListAllVolumesArgs, types.StoragePoolListAllVolumesRet> = {
  name: 'STORAGE_POOL_LIST_ALL_VOLUMES',
  program: REMOTE_PROGRAM,
  number: 282,
  args: codecs.storagePoolListAllVolumesArgsCodec,
  ret: codecs.storagePoolListAllVolumesRetCodec,
};

export const connectListAllNetworks: Procedure<types.ConnectListAllNetworksArgs, types.ConnectListAllNetworksRet> = {
  name: 'CONNECT_LIST_ALL_NETWORKS',
  program: REMOTE_PROGRAM,
  number: 283,
  args: codecs.connectListAllNetworksArgsCodec,
  ret: codecs.connectListAllNetworksRetCodec,
};

export const connectListAllInterfaces: Procedure<types.ConnectListAllInterfacesArgs, types.ConnectListAllInterfacesRet> = {
  name: 'CONNECT_LIST_ALL_INTERFACES',
  program: REMOTE_PROGRAM,
  number: 284,
  args: codecs.connectListAllInterfacesArgsCodec,
  ret: codecs.connectListAllInterfacesRetCodec,
};

export const connectListAllNodeDevices: Procedure<types.ConnectListAllNodeDevicesArgs, types.ConnectListAllNodeDevicesRet> = {
  name: 'CONNECT_LIST_ALL_NODE_DEVICES',
  program: REMOTE_PROGRAM,
  number: 285,
  args: codecs.connectListAllNodeDevicesArgsCodec,
  ret: codecs.connectListAllNodeDevicesRetCodec,
};

export const connectListAllNwfilters: Procedure<types.ConnectListAllNwfiltersArgs, types.ConnectListAllNwfiltersRet> = {
  name: 'CONNECT_LIST_ALL_NWFILTERS',
  program: REMOTE_PROGRAM,
  number: 286,
  args: codecs.connectListAllNwfiltersArgsCodec,
  ret: codecs.connectListAllNwfiltersRetCodec,
};

export const connectListAllSecrets: Procedure<types.ConnectListAllSecretsArgs, types.ConnectListAllSecretsRet> = {
  name: 'CONNECT_LIST_ALL_SECRETS',
  program: REMOTE_PROGRAM,
  number: 287,
  args: codecs.connectListAllSecretsArgsCodec,
  ret: codecs.connectListAllSecretsRetCodec,
};

export const nodeSetMemoryParameters: Procedure<types.NodeSetMemoryParametersArgs, void> = {
  name: 'NODE_SET_MEMORY_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 288,
  args: codecs.nodeSetMemoryParametersArgsCodec,
  ret: nothing,
};

export const nodeGetMemoryParameters: Procedure<types.NodeGetMemoryParametersArgs, types.NodeGetMemoryParametersRet> = {
  name: 'NODE_GET_MEMORY_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 289,
  args: codecs.nodeGetMemoryParametersArgsCodec,
  ret: codecs.nodeGetMemoryParametersRetCodec,
};

export const domainBlockCommit: Procedure<types.DomainBlockCommitArgs, void> = {
  name: 'DOMAIN_BLOCK_COMMIT',
  program: REMOTE_PROGRAM,
  number: 290,
  args: codecs.domainBlockCommitArgsCodec,
  ret: nothing,
};

export const networkUpdate: Procedure<types.NetworkUpdateArgs, void> = {
  name: 'NETWORK_UPDATE',
  program: REMOTE_PROGRAM,
  number: 291,
  args: codecs.networkUpdateArgsCodec,
  ret: nothing,
};

export const nodeGetCpuMap: Procedure<types.NodeGetCpuMapArgs, types.NodeGetCpuMapRet> = {
  name: 'NODE_GET_CPU_MAP',
  program: REMOTE_PROGRAM,
  number: 293,
  args: codecs.nodeGetCpuMapArgsCodec,
  ret: codecs.nodeGetCpuMapRetCodec,
};

export const domainFstrim: Procedure<types.DomainFstrimArgs, void> = {
  name: 'DOMAIN_FSTRIM',
  program: REMOTE_PROGRAM,
  number: 294,
  args: codecs.domainFstrimArgsCodec,
  ret: nothing,
};

export const domainSendProcessSignal: Procedure<types.DomainSendProcessSignalArgs, void> = {
  name: 'DOMAIN_SEND_PROCESS_SIGNAL',
  program: REMOTE_PROGRAM,
  number: 295,
  args: codecs.domainSendProcessSignalArgsCodec,
  ret: nothing,
};

export const domainOpenChannel: StreamProcedure<types.DomainOpenChannelArgs, void> = {
  name: 'DOMAIN_OPEN_CHANNEL',
  program: REMOTE_PROGRAM,
  number: 296,
  args: codecs.domainOpenChannelArgsCodec,
  ret: nothing,
  stream: true,
};

export const nodeDeviceLookupScsiHostByWwn: Procedure<types.NodeDeviceLookupScsiHostByWwnArgs, types.NodeDeviceLookupScsiHostByWwnRet> = {
  name: 'NODE_DEVICE_LOOKUP_SCSI_HOST_BY_WWN',
  program: REMOTE_PROGRAM,
  number: 297,
  args: codecs.nodeDeviceLookupScsiHostByWwnArgsCodec,
  ret: codecs.nodeDeviceLookupScsiHostByWwnRetCodec,
};

export const domainGetJobStats: Procedure<types.DomainGetJobStatsArgs, types.DomainGetJobStatsRet> = {
  name: 'DOMAIN_GET_JOB_STATS',
  program: REMOTE_PROGRAM,
  number: 298,
  args: codecs.domainGetJobStatsArgsCodec,
  ret: codecs.domainGetJobStatsRetCodec,
};

export const domainMigrateGetCompressionCache: Procedure<types.DomainMigrateGetCompressionCacheArgs, types.DomainMigrateGetCompressionCacheRet> = {
  name: 'DOMAIN_MIGRATE_GET_COMPRESSION_CACHE',
  program: REMOTE_PROGRAM,
  number: 299,
  args: codecs.domainMigrateGetCompressionCacheArgsCodec,
  ret: codecs.domainMigrateGetCompressionCacheRetCodec,
};

export const domainMigrateSetCompressionCache: Procedure<types.DomainMigrateSetCompressionCacheArgs, void> = {
  name: 'DOMAIN_MIGRATE_SET_COMPRESSION_CACHE',
  program: REMOTE_PROGRAM,
  number: 300,
  args: codecs.domainMigrateSetCompressionCacheArgsCodec,
  ret: nothing,
};

export const nodeDeviceDetachFlags: Procedure<types.NodeDeviceDetachFlagsArgs, void> = {
  name: 'NODE_DEVICE_DETACH_FLAGS',
  program: REMOTE_PROGRAM,
  number: 301,
  args: codecs.nodeDeviceDetachFlagsArgsCodec,
  ret: nothing,
};

export const domainMigrateBegin3Params: Procedure<types.DomainMigrateBegin3ParamsArgs, types.DomainMigrateBegin3ParamsRet> = {
  name: 'DOMAIN_MIGRATE_BEGIN3_PARAMS',
  program: REMOTE_PROGRAM,
  number: 302,
  args: codecs.domainMigrateBegin3ParamsArgsCodec,
  ret: codecs.domainMigrateBegin3ParamsRetCodec,
};

export const domainMigratePrepare3Params: Procedure<types.DomainMigratePrepare3ParamsArgs, types.DomainMigratePrepare3ParamsRet> = {
  name: 'DOMAIN_MIGRATE_PREPARE3_PARAMS',
  program: REMOTE_PROGRAM,
  number: 303,
  args: codecs.domainMigratePrepare3ParamsArgsCodec,
  ret: codecs.domainMigratePrepare3ParamsRetCodec,
};

export const domainMigratePrepareTunnel3Params: Procedure<types.DomainMigratePrepareTunnel3ParamsArgs, types.DomainMigratePrepareTunnel3ParamsRet> = {
  name: 'DOMAIN_MIGRATE_PREPARE_TUNNEL3_PARAMS',
  program: REMOTE_PROGRAM,
  number: 304,
  args: codecs.domainMigratePrepareTunnel3ParamsArgsCodec,
  ret: codecs.domainMigratePrepareTunnel3ParamsRetCodec,
};

export const domainMigratePerform3Params: Procedure<types.DomainMigratePerform3ParamsArgs, types.DomainMigratePerform3ParamsRet> = {
  name: 'DOMAIN_MIGRATE_PERFORM3_PARAMS',
  program: REMOTE_PROGRAM,
  number: 305,
  args: codecs.domainMigratePerform3ParamsArgsCodec,
  ret: codecs.domainMigratePerform3ParamsRetCodec,
};

export const domainMigrateFinish3Params: Procedure<types.DomainMigrateFinish3ParamsArgs, types.DomainMigrateFinish3ParamsRet> = {
  name: 'DOMAIN_MIGRATE_FINISH3_PARAMS',
  program: REMOTE_PROGRAM,
  number: 306,
  args: codecs.domainMigrateFinish3ParamsArgsCodec,
  ret: codecs.domainMigrateFinish3ParamsRetCodec,
};

export const domainMigrateConfirm3Params: Procedure<types.DomainMigrateConfirm3ParamsArgs, void> = {
  name: 'DOMAIN_MIGRATE_CONFIRM3_PARAMS',
  program: REMOTE_PROGRAM,
  number: 307,
  args: codecs.domainMigrateConfirm3ParamsArgsCodec,
  ret: nothing,
};

export const domainSetMemoryStatsPeriod: Procedure<types.DomainSetMemoryStatsPeriodArgs, void> = {
  name: 'DOMAIN_SET_MEMORY_STATS_PERIOD',
  program: REMOTE_PROGRAM,
  number: 308,
  args: codecs.domainSetMemoryStatsPeriodArgsCodec,
  ret: nothing,
};

export const domainCreateXmlWithFiles: Procedure<types.DomainCreateXmlWithFilesArgs, types.DomainCreateXmlWithFilesRet> = {
  name: 'DOMAIN_CREATE_XML_WITH_FILES',
  program: REMOTE_PROGRAM,
  number: 309,
  args: codecs.domainCreateXmlWithFilesArgsCodec,
  ret: codecs.domainCreateXmlWithFilesRetCodec,
};

export const domainCreateWithFiles: Procedure<types.DomainCreateWithFilesArgs, types.DomainCreateWithFilesRet> = {
  name: 'DOMAIN_CREATE_WITH_FILES',
  program: REMOTE_PROGRAM,
  number: 310,
  args: codecs.domainCreateWithFilesArgsCodec,
  ret: codecs.domainCreateWithFilesRetCodec,
};

export const connectGetCpuModelNames: Procedure<types.ConnectGetCpuModelNamesArgs, types.ConnectGetCpuModelNamesRet> = {
  name: 'CONNECT_GET_CPU_MODEL_NAMES',
  program: REMOTE_PROGRAM,
  number: 312,
  args: codecs.connectGetCpuModelNamesArgsCodec,
  ret: codecs.connectGetCpuModelNamesRetCodec,
};

export const connectNetworkEventRegisterAny: Procedure<types.ConnectNetworkEventRegisterAnyArgs, types.ConnectNetworkEventRegisterAnyRet> = {
  name: 'CONNECT_NETWORK_EVENT_REGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 313,
  args: codecs.connectNetworkEventRegisterAnyArgsCodec,
  ret: codecs.connectNetworkEventRegisterAnyRetCodec,
};

export const connectNetworkEventDeregisterAny: Procedure<types.ConnectNetworkEventDeregisterAnyArgs, void> = {
  name: 'CONNECT_NETWORK_EVENT_DEREGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 314,
  args: codecs.connectNetworkEventDeregisterAnyArgsCodec,
  ret: nothing,
};

export const connectDomainEventCallbackRegisterAny: Procedure<types.ConnectDomainEventCallbackRegisterAnyArgs, types.ConnectDomainEventCallbackRegisterAnyRet> = {
  name: 'CONNECT_DOMAIN_EVENT_CALLBACK_REGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 316,
  args: codecs.connectDomainEventCallbackRegisterAnyArgsCodec,
  ret: codecs.connectDomainEventCallbackRegisterAnyRetCodec,
};

export const connectDomainEventCallbackDeregisterAny: Procedure<types.ConnectDomainEventCallbackDeregisterAnyArgs, void> = {
  name: 'CONNECT_DOMAIN_EVENT_CALLBACK_DEREGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 317,
  args: codecs.connectDomainEventCallbackDeregisterAnyArgsCodec,
  ret: nothing,
};

export const domainCoreDumpWithFormat: Procedure<types.DomainCoreDumpWithFormatArgs, void> = {
  name: 'DOMAIN_CORE_DUMP_WITH_FORMAT',
  program: REMOTE_PROGRAM,
  number: 334,
  args: codecs.domainCoreDumpWithFormatArgsCodec,
  ret: nothing,
};

export const domainFsfreeze: Procedure<types.DomainFsfreezeArgs, types.DomainFsfreezeRet> = {
  name: 'DOMAIN_FSFREEZE',
  program: REMOTE_PROGRAM,
  number: 335,
  args: codecs.domainFsfreezeArgsCodec,
  ret: codecs.domainFsfreezeRetCodec,
};

export const domainFsthaw: Procedure<types.DomainFsthawArgs, types.DomainFsthawRet> = {
  name: 'DOMAIN_FSTHAW',
  program: REMOTE_PROGRAM,
  number: 336,
  args: codecs.domainFsthawArgsCodec,
  ret: codecs.domainFsthawRetCodec,
};

export const domainGetTime: Procedure<types.DomainGetTimeArgs, types.DomainGetTimeRet> = {
  name: 'DOMAIN_GET_TIME',
  program: REMOTE_PROGRAM,
  number: 337,
  args: codecs.domainGetTimeArgsCodec,
  ret: codecs.domainGetTimeRetCodec,
};

export const domainSetTime: Procedure<types.DomainSetTimeArgs, void> = {
  name: 'DOMAIN_SET_TIME',
  program: REMOTE_PROGRAM,
  number: 338,
  args: codecs.domainSetTimeArgsCodec,
  ret: nothing,
};

export const nodeGetFreePages: Procedure<types.NodeGetFreePagesArgs, types.NodeGetFreePagesRet> = {
  name: 'NODE_GET_FREE_PAGES',
  program: REMOTE_PROGRAM,
  number: 340,
  args: codecs.nodeGetFreePagesArgsCodec,
  ret: codecs.nodeGetFreePagesRetCodec,
};

export const networkGetDhcpLeases: Procedure<types.NetworkGetDhcpLeasesArgs, types.NetworkGetDhcpLeasesRet> = {
  name: 'NETWORK_GET_DHCP_LEASES',
  program: REMOTE_PROGRAM,
  number: 341,
  args: codecs.networkGetDhcpLeasesArgsCodec,
  ret: codecs.networkGetDhcpLeasesRetCodec,
};

export const connectGetDomainCapabilities: Procedure<types.ConnectGetDomainCapabilitiesArgs, types.ConnectGetDomainCapabilitiesRet> = {
  name: 'CONNECT_GET_DOMAIN_CAPABILITIES',
  program: REMOTE_PROGRAM,
  number: 342,
  args: codecs.connectGetDomainCapabilitiesArgsCodec,
  ret: codecs.connectGetDomainCapabilitiesRetCodec,
};

export const domainOpenGraphicsFd: Procedure<types.DomainOpenGraphicsFdArgs, void> = {
  name: 'DOMAIN_OPEN_GRAPHICS_FD',
  program: REMOTE_PROGRAM,
  number: 343,
  args: codecs.domainOpenGraphicsFdArgsCodec,
  ret: nothing,
};

export const connectGetAllDomainStats: Procedure<types.ConnectGetAllDomainStatsArgs, types.ConnectGetAllDomainStatsRet> = {
  name: 'CONNECT_GET_ALL_DOMAIN_STATS',
  program: REMOTE_PROGRAM,
  number: 344,
  args: codecs.connectGetAllDomainStatsArgsCodec,
  ret: codecs.connectGetAllDomainStatsRetCodec,
};

export const domainBlockCopy: Procedure<types.DomainBlockCopyArgs, void> = {
  name: 'DOMAIN_BLOCK_COPY',
  program: REMOTE_PROGRAM,
  number: 345,
  args: codecs.domainBlockCopyArgsCodec,
  ret: nothing,
};

export const nodeAllocPages: Procedure<types.NodeAllocPagesArgs, types.NodeAllocPagesRet> = {
  name: 'NODE_ALLOC_PAGES',
  program: REMOTE_PROGRAM,
  number: 347,
  args: codecs.nodeAllocPagesArgsCodec,
  ret: codecs.nodeAllocPagesRetCodec,
};

export const domainGetFsinfo: Procedure<types.DomainGetFsinfoArgs, types.DomainGetFsinfoRet> = {
  name: 'DOMAIN_GET_FSINFO',
  program: REMOTE_PROGRAM,
  number: 349,
  args: codecs.domainGetFsinfoArgsCodec,
  ret: codecs.domainGetFsinfoRetCodec,
};

export const domainDefineXmlFlags: Procedure<types.DomainDefineXmlFlagsArgs, types.DomainDefineXmlFlagsRet> = {
  name: 'DOMAIN_DEFINE_XML_FLAGS',
  program: REMOTE_PROGRAM,
  number: 350,
  args: codecs.domainDefineXmlFlagsArgsCodec,
  ret: codecs.domainDefineXmlFlagsRetCodec,
};

export const domainGetIothreadInfo: Procedure<types.DomainGetIothreadInfoArgs, types.DomainGetIothreadInfoRet> = {
  name: 'DOMAIN_GET_IOTHREAD_INFO',
  program: REMOTE_PROGRAM,
  number: 351,
  args: codecs.domainGetIothreadInfoArgsCodec,
  ret: codecs.domainGetIothreadInfoRetCodec,
};

export const domainPinIothread: Procedure<types.DomainPinIothreadArgs, void> = {
  name: 'DOMAIN_PIN_IOTHREAD',
  program: REMOTE_PROGRAM,
  number: 352,
  args: codecs.domainPinIothreadArgsCodec,
  ret: nothing,
};

export const domainInterfaceAddresses: Procedure<types.DomainInterfaceAddressesArgs, types.DomainInterfaceAddressesRet> = {
  name: 'DOMAIN_INTERFACE_ADDRESSES',
  program: REMOTE_PROGRAM,
  number: 353,
  args: codecs.domainInterfaceAddressesArgsCodec,
  ret: codecs.domainInterfaceAddressesRetCodec,
};

export const domainAddIothread: Procedure<types.DomainAddIothreadArgs, void> = {
  name: 'DOMAIN_ADD_IOTHREAD',
  program: REMOTE_PROGRAM,
  number: 355,
  args: codecs.domainAddIothreadArgsCodec,
  ret: nothing,
};

export const domainDelIothread: Procedure<types.DomainDelIothreadArgs, void> = {
  name: 'DOMAIN_DEL_IOTHREAD',
  program: REMOTE_PROGRAM,
  number: 356,
  args: codecs.domainDelIothreadArgsCodec,
  ret: nothing,
};

export const domainSetUserPassword: Procedure<types.DomainSetUserPasswordArgs, void> = {
  name: 'DOMAIN_SET_USER_PASSWORD',
  program: REMOTE_PROGRAM,
  number: 357,
  args: codecs.domainSetUserPasswordArgsCodec,
  ret: nothing,
};

export const domainRename: Procedure<types.DomainRenameArgs, types.DomainRenameRet> = {
  name: 'DOMAIN_RENAME',
  program: REMOTE_PROGRAM,
  number: 358,
  args: codecs.domainRenameArgsCodec,
  ret: codecs.domainRenameRetCodec,
};

export const connectRegisterCloseCallback: Procedure<void, void> = {
  name: 'CONNECT_REGISTER_CLOSE_CALLBACK',
  program: REMOTE_PROGRAM,
  number: 360,
  args: nothing,
  ret: nothing,
};

export const connectUnregisterCloseCallback: Procedure<void, void> = {
  name: 'CONNECT_UNREGISTER_CLOSE_CALLBACK',
  program: REMOTE_PROGRAM,
  number: 361,
  args: nothing,
  ret: nothing,
};

export const domainMigrateStartPostCopy: Procedure<types.DomainMigrateStartPostCopyArgs, void> = {
  name: 'DOMAIN_MIGRATE_START_POST_COPY',
  program: REMOTE_PROGRAM,
  number: 364,
  args: codecs.domainMigrateStartPostCopyArgsCodec,
  ret: nothing,
};

export const domainGetPerfEvents: Procedure<types.DomainGetPerfEventsArgs, types.DomainGetPerfEventsRet> = {
  name: 'DOMAIN_GET_PERF_EVENTS',
  program: REMOTE_PROGRAM,
  number: 365,
  args: codecs.domainGetPerfEventsArgsCodec,
  ret: codecs.domainGetPerfEventsRetCodec,
};

export const domainSetPerfEvents: Procedure<types.DomainSetPerfEventsArgs, void> = {
  name: 'DOMAIN_SET_PERF_EVENTS',
  program: REMOTE_PROGRAM,
  number: 366,
  args: codecs.domainSetPerfEventsArgsCodec,
  ret: nothing,
};

export const connectStoragePoolEventRegisterAny: Procedure<types.ConnectStoragePoolEventRegisterAnyArgs, types.ConnectStoragePoolEventRegisterAnyRet> = {
  name: 'CONNECT_STORAGE_POOL_EVENT_REGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 368,
  args: codecs.connectStoragePoolEventRegisterAnyArgsCodec,
  ret: codecs.connectStoragePoolEventRegisterAnyRetCodec,
};

export const connectStoragePoolEventDeregisterAny: Procedure<types.ConnectStoragePoolEventDeregisterAnyArgs, void> = {
  name: 'CONNECT_STORAGE_POOL_EVENT_DEREGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 369,
  args: codecs.connectStoragePoolEventDeregisterAnyArgsCodec,
  ret: nothing,
};

export const domainGetGuestVcpus: Procedure<types.DomainGetGuestVcpusArgs, types.DomainGetGuestVcpusRet> = {
  name: 'DOMAIN_GET_GUEST_VCPUS',
  program: REMOTE_PROGRAM,
  number: 371,
  args: codecs.domainGetGuestVcpusArgsCodec,
  ret: codecs.domainGetGuestVcpusRetCodec,
};

export const domainSetGuestVcpus: Procedure<types.DomainSetGuestVcpusArgs, void> = {
  name: 'DOMAIN_SET_GUEST_VCPUS',
  program: REMOTE_PROGRAM,
  number: 372,
  args: codecs.domainSetGuestVcpusArgsCodec,
  ret: nothing,
};

export const connectNodeDeviceEventRegisterAny: Procedure<types.ConnectNodeDeviceEventRegisterAnyArgs, types.ConnectNodeDeviceEventRegisterAnyRet> = {
  name: 'CONNECT_NODE_DEVICE_EVENT_REGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 374,
  args: codecs.connectNodeDeviceEventRegisterAnyArgsCodec,
  ret: codecs.connectNodeDeviceEventRegisterAnyRetCodec,
};

export const connectNodeDeviceEventDeregisterAny: Procedure<types.ConnectNodeDeviceEventDeregisterAnyArgs, void> = {
  name: 'CONNECT_NODE_DEVICE_EVENT_DEREGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 375,
  args: codecs.connectNodeDeviceEventDeregisterAnyArgsCodec,
  ret: nothing,
};

export const storageVolGetInfoFlags: Procedure<types.StorageVolGetInfoFlagsArgs, types.StorageVolGetInfoFlagsRet> = {
  name: 'STORAGE_VOL_GET_INFO_FLAGS',
  program: REMOTE_PROGRAM,
  number: 378,
  args: codecs.storageVolGetInfoFlagsArgsCodec,
  ret: codecs.storageVolGetInfoFlagsRetCodec,
};

export const connectSecretEventRegisterAny: Procedure<types.ConnectSecretEventRegisterAnyArgs, types.ConnectSecretEventRegisterAnyRet> = {
  name: 'CONNECT_SECRET_EVENT_REGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 380,
  args: codecs.connectSecretEventRegisterAnyArgsCodec,
  ret: codecs.connectSecretEventRegisterAnyRetCodec,
};

export const connectSecretEventDeregisterAny: Procedure<types.ConnectSecretEventDeregisterAnyArgs, void> = {
  name: 'CONNECT_SECRET_EVENT_DEREGISTER_ANY',
  program: REMOTE_PROGRAM,
  number: 381,
  args: codecs.connectSecretEventDeregisterAnyArgsCodec,
  ret: nothing,
};

export const domainSetVcpu: Procedure<types.DomainSetVcpuArgs, void> = {
  name: 'DOMAIN_SET_VCPU',
  program: REMOTE_PROGRAM,
  number: 384,
  args: codecs.domainSetVcpuArgsCodec,
  ret: nothing,
};

export const domainSetBlockThreshold: Procedure<types.DomainSetBlockThresholdArgs, void> = {
  name: 'DOMAIN_SET_BLOCK_THRESHOLD',
  program: REMOTE_PROGRAM,
  number: 386,
  args: codecs.domainSetBlockThresholdArgsCodec,
  ret: nothing,
};

export const domainMigrateGetMaxDowntime: Procedure<types.DomainMigrateGetMaxDowntimeArgs, types.DomainMigrateGetMaxDowntimeRet> = {
  name: 'DOMAIN_MIGRATE_GET_MAX_DOWNTIME',
  program: REMOTE_PROGRAM,
  number: 387,
  args: codecs.domainMigrateGetMaxDowntimeArgsCodec,
  ret: codecs.domainMigrateGetMaxDowntimeRetCodec,
};

export const domainManagedSaveGetXmlDesc: Procedure<types.DomainManagedSaveGetXmlDescArgs, types.DomainManagedSaveGetXmlDescRet> = {
  name: 'DOMAIN_MANAGED_SAVE_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 388,
  args: codecs.domainManagedSaveGetXmlDescArgsCodec,
  ret: codecs.domainManagedSaveGetXmlDescRetCodec,
};

export const domainManagedSaveDefineXml: Procedure<types.DomainManagedSaveDefineXmlArgs, void> = {
  name: 'DOMAIN_MANAGED_SAVE_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 389,
  args: codecs.domainManagedSaveDefineXmlArgsCodec,
  ret: nothing,
};

export const domainSetLifecycleAction: Procedure<types.DomainSetLifecycleActionArgs, void> = {
  name: 'DOMAIN_SET_LIFECYCLE_ACTION',
  program: REMOTE_PROGRAM,
  number: 390,
  args: codecs.domainSetLifecycleActionArgsCodec,
  ret: nothing,
};

export const storagePoolLookupByTargetPath: Procedure<types.StoragePoolLookupByTargetPathArgs, types.StoragePoolLookupByTargetPathRet> = {
  name: 'STORAGE_POOL_LOOKUP_BY_TARGET_PATH',
  program: REMOTE_PROGRAM,
  number: 391,
  args: codecs.storagePoolLookupByTargetPathArgsCodec,
  ret: codecs.storagePoolLookupByTargetPathRetCodec,
};

export const domainDetachDeviceAlias: Procedure<types.DomainDetachDeviceAliasArgs, void> = {
  name: 'DOMAIN_DETACH_DEVICE_ALIAS',
  program: REMOTE_PROGRAM,
  number: 392,
  args: codecs.domainDetachDeviceAliasArgsCodec,
  ret: nothing,
};

export const connectCompareHypervisorCpu: Procedure<types.ConnectCompareHypervisorCpuArgs, types.ConnectCompareHypervisorCpuRet> = {
  name: 'CONNECT_COMPARE_HYPERVISOR_CPU',
  program: REMOTE_PROGRAM,
  number: 393,
  args: codecs.connectCompareHypervisorCpuArgsCodec,
  ret: codecs.connectCompareHypervisorCpuRetCodec,
};

export const connectBaselineHypervisorCpu: Procedure<types.ConnectBaselineHypervisorCpuArgs, types.ConnectBaselineHypervisorCpuRet> = {
  name: 'CONNECT_BASELINE_HYPERVISOR_CPU',
  program: REMOTE_PROGRAM,
  number: 394,
  args: codecs.connectBaselineHypervisorCpuArgsCodec,
  ret: codecs.connectBaselineHypervisorCpuRetCodec,
};

export const nodeGetSevInfo: Procedure<types.NodeGetSevInfoArgs, types.NodeGetSevInfoRet> = {
  name: 'NODE_GET_SEV_INFO',
  program: REMOTE_PROGRAM,
  number: 395,
  args: codecs.nodeGetSevInfoArgsCodec,
  ret: codecs.nodeGetSevInfoRetCodec,
};

export const domainGetLaunchSecurityInfo: Procedure<types.DomainGetLaunchSecurityInfoArgs, types.DomainGetLaunchSecurityInfoRet> = {
  name: 'DOMAIN_GET_LAUNCH_SECURITY_INFO',
  program: REMOTE_PROGRAM,
  number: 396,
  args: codecs.domainGetLaunchSecurityInfoArgsCodec,
  ret: codecs.domainGetLaunchSecurityInfoRetCodec,
};

export const nwfilterBindingLookupByPortDev: Procedure<types.NwfilterBindingLookupByPortDevArgs, types.NwfilterBindingLookupByPortDevRet> = {
  name: 'NWFILTER_BINDING_LOOKUP_BY_PORT_DEV',
  program: REMOTE_PROGRAM,
  number: 397,
  args: codecs.nwfilterBindingLookupByPortDevArgsCodec,
  ret: codecs.nwfilterBindingLookupByPortDevRetCodec,
};

export const nwfilterBindingGetXmlDesc: Procedure<types.NwfilterBindingGetXmlDescArgs, types.NwfilterBindingGetXmlDescRet> = {
  name: 'NWFILTER_BINDING_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 398,
  args: codecs.nwfilterBindingGetXmlDescArgsCodec,
  ret: codecs.nwfilterBindingGetXmlDescRetCodec,
};

export const nwfilterBindingCreateXml: Procedure<types.NwfilterBindingCreateXmlArgs, types.NwfilterBindingCreateXmlRet> = {
  name: 'NWFILTER_BINDING_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 399,
  args: codecs.nwfilterBindingCreateXmlArgsCodec,
  ret: codecs.nwfilterBindingCreateXmlRetCodec,
};

export const nwfilterBindingDelete: Procedure<types.NwfilterBindingDeleteArgs, void> = {
  name: 'NWFILTER_BINDING_DELETE',
  program: REMOTE_PROGRAM,
  number: 400,
  args: codecs.nwfilterBindingDeleteArgsCodec,
  ret: nothing,
};

export const connectListAllNwfilterBindings: Procedure<types.ConnectListAllNwfilterBindingsArgs, types.ConnectListAllNwfilterBindingsRet> = {
  name: 'CONNECT_LIST_ALL_NWFILTER_BINDINGS',
  program: REMOTE_PROGRAM,
  number: 401,
  args: codecs.connectListAllNwfilterBindingsArgsCodec,
  ret: codecs.connectListAllNwfilterBindingsRetCodec,
};

export const domainSetIothreadParams: Procedure<types.DomainSetIothreadParamsArgs, void> = {
  name: 'DOMAIN_SET_IOTHREAD_PARAMS',
  program: REMOTE_PROGRAM,
  number: 402,
  args: codecs.domainSetIothreadParamsArgsCodec,
  ret: nothing,
};

export const connectGetStoragePoolCapabilities: Procedure<types.ConnectGetStoragePoolCapabilitiesArgs, types.ConnectGetStoragePoolCapabilitiesRet> = {
  name: 'CONNECT_GET_STORAGE_POOL_CAPABILITIES',
  program: REMOTE_PROGRAM,
  number: 403,
  args: codecs.connectGetStoragePoolCapabilitiesArgsCodec,
  ret: codecs.connectGetStoragePoolCapabilitiesRetCodec,
};

export const networkListAllPorts: Procedure<types.NetworkListAllPortsArgs, types.NetworkListAllPortsRet> = {
  name: 'NETWORK_LIST_ALL_PORTS',
  program: REMOTE_PROGRAM,
  number: 404,
  args: codecs.networkListAllPortsArgsCodec,
  ret: codecs.networkListAllPortsRetCodec,
};

export const networkPortLookupByUuid: Procedure<types.NetworkPortLookupByUuidArgs, types.NetworkPortLookupByUuidRet> = {
  name: 'NETWORK_PORT_LOOKUP_BY_UUID',
  program: REMOTE_PROGRAM,
  number: 405,
  args: codecs.networkPortLookupByUuidArgsCodec,
  ret: codecs.networkPortLookupByUuidRetCodec,
};

export const networkPortCreateXml: Procedure<types.NetworkPortCreateXmlArgs, types.NetworkPortCreateXmlRet> = {
  name: 'NETWORK_PORT_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 406,
  args: codecs.networkPortCreateXmlArgsCodec,
  ret: codecs.networkPortCreateXmlRetCodec,
};

export const networkPortGetParameters: Procedure<types.NetworkPortGetParametersArgs, types.NetworkPortGetParametersRet> = {
  name: 'NETWORK_PORT_GET_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 407,
  args: codecs.networkPortGetParametersArgsCodec,
  ret: codecs.networkPortGetParametersRetCodec,
};

export const networkPortSetParameters: Procedure<types.NetworkPortSetParametersArgs, void> = {
  name: 'NETWORK_PORT_SET_PARAMETERS',
  program: REMOTE_PROGRAM,
  number: 408,
  args: codecs.networkPortSetParametersArgsCodec,
  ret: nothing,
};

export const networkPortGetXmlDesc: Procedure<types.NetworkPortGetXmlDescArgs, types.NetworkPortGetXmlDescRet> = {
  name: 'NETWORK_PORT_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 409,
  args: codecs.networkPortGetXmlDescArgsCodec,
  ret: codecs.networkPortGetXmlDescRetCodec,
};

export const networkPortDelete: Procedure<types.NetworkPortDeleteArgs, void> = {
  name: 'NETWORK_PORT_DELETE',
  program: REMOTE_PROGRAM,
  number: 410,
  args: codecs.networkPortDeleteArgsCodec,
  ret: nothing,
};

export const domainCheckpointCreateXml: Procedure<types.DomainCheckpointCreateXmlArgs, types.DomainCheckpointCreateXmlRet> = {
  name: 'DOMAIN_CHECKPOINT_CREATE_XML',
  program: REMOTE_PROGRAM,
  number: 411,
  args: codecs.domainCheckpointCreateXmlArgsCodec,
  ret: codecs.domainCheckpointCreateXmlRetCodec,
};

export const domainCheckpointGetXmlDesc: Procedure<types.DomainCheckpointGetXmlDescArgs, types.DomainCheckpointGetXmlDescRet> = {
  name: 'DOMAIN_CHECKPOINT_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 412,
  args: codecs.domainCheckpointGetXmlDescArgsCodec,
  ret: codecs.domainCheckpointGetXmlDescRetCodec,
};

export const domainListAllCheckpoints: Procedure<types.DomainListAllCheckpointsArgs, types.DomainListAllCheckpointsRet> = {
  name: 'DOMAIN_LIST_ALL_CHECKPOINTS',
  program: REMOTE_PROGRAM,
  number: 413,
  args: codecs.domainListAllCheckpointsArgsCodec,
  ret: codecs.domainListAllCheckpointsRetCodec,
};

export const domainCheckpointListAllChildren: Procedure<types.DomainCheckpointListAllChildrenArgs, types.DomainCheckpointListAllChildrenRet> = {
  name: 'DOMAIN_CHECKPOINT_LIST_ALL_CHILDREN',
  program: REMOTE_PROGRAM,
  number: 414,
  args: codecs.domainCheckpointListAllChildrenArgsCodec,
  ret: codecs.domainCheckpointListAllChildrenRetCodec,
};

export const domainCheckpointLookupByName: Procedure<types.DomainCheckpointLookupByNameArgs, types.DomainCheckpointLookupByNameRet> = {
  name: 'DOMAIN_CHECKPOINT_LOOKUP_BY_NAME',
  program: REMOTE_PROGRAM,
  number: 415,
  args: codecs.domainCheckpointLookupByNameArgsCodec,
  ret: codecs.domainCheckpointLookupByNameRetCodec,
};

export const domainCheckpointGetParent: Procedure<types.DomainCheckpointGetParentArgs, types.DomainCheckpointGetParentRet> = {
  name: 'DOMAIN_CHECKPOINT_GET_PARENT',
  program: REMOTE_PROGRAM,
  number: 416,
  args: codecs.domainCheckpointGetParentArgsCodec,
  ret: codecs.domainCheckpointGetParentRetCodec,
};

export const domainCheckpointDelete: Procedure<types.DomainCheckpointDeleteArgs, void> = {
  name: 'DOMAIN_CHECKPOINT_DELETE',
  program: REMOTE_PROGRAM,
  number: 417,
  args: codecs.domainCheckpointDeleteArgsCodec,
  ret: nothing,
};

export const domainGetGuestInfo: Procedure<types.DomainGetGuestInfoArgs, types.DomainGetGuestInfoRet> = {
  name: 'DOMAIN_GET_GUEST_INFO',
  program: REMOTE_PROGRAM,
  number: 418,
  args: codecs.domainGetGuestInfoArgsCodec,
  ret: codecs.domainGetGuestInfoRetCodec,
};

export const connectSetIdentity: Procedure<types.ConnectSetIdentityArgs, void> = {
  name: 'CONNECT_SET_IDENTITY',
  program: REMOTE_PROGRAM,
  number: 419,
  args: codecs.connectSetIdentityArgsCodec,
  ret: nothing,
};

export const domainAgentSetResponseTimeout: Procedure<types.DomainAgentSetResponseTimeoutArgs, types.DomainAgentSetResponseTimeoutRet> = {
  name: 'DOMAIN_AGENT_SET_RESPONSE_TIMEOUT',
  program: REMOTE_PROGRAM,
  number: 420,
  args: codecs.domainAgentSetResponseTimeoutArgsCodec,
  ret: codecs.domainAgentSetResponseTimeoutRetCodec,
};

export const domainBackupBegin: Procedure<types.DomainBackupBeginArgs, void> = {
  name: 'DOMAIN_BACKUP_BEGIN',
  program: REMOTE_PROGRAM,
  number: 421,
  args: codecs.domainBackupBeginArgsCodec,
  ret: nothing,
};

export const domainBackupGetXmlDesc: Procedure<types.DomainBackupGetXmlDescArgs, types.DomainBackupGetXmlDescRet> = {
  name: 'DOMAIN_BACKUP_GET_XML_DESC',
  program: REMOTE_PROGRAM,
  number: 422,
  args: codecs.domainBackupGetXmlDescArgsCodec,
  ret: codecs.domainBackupGetXmlDescRetCodec,
};

export const domainAuthorizedSshKeysGet: Procedure<types.DomainAuthorizedSshKeysGetArgs, types.DomainAuthorizedSshKeysGetRet> = {
  name: 'DOMAIN_AUTHORIZED_SSH_KEYS_GET',
  program: REMOTE_PROGRAM,
  number: 424,
  args: codecs.domainAuthorizedSshKeysGetArgsCodec,
  ret: codecs.domainAuthorizedSshKeysGetRetCodec,
};

export const domainAuthorizedSshKeysSet: Procedure<types.DomainAuthorizedSshKeysSetArgs, void> = {
  name: 'DOMAIN_AUTHORIZED_SSH_KEYS_SET',
  program: REMOTE_PROGRAM,
  number: 425,
  args: codecs.domainAuthorizedSshKeysSetArgsCodec,
  ret: nothing,
};

export const domainGetMessages: Procedure<types.DomainGetMessagesArgs, types.DomainGetMessagesRet> = {
  name: 'DOMAIN_GET_MESSAGES',
  program: REMOTE_PROGRAM,
  number: 426,
  args: codecs.domainGetMessagesArgsCodec,
  ret: codecs.domainGetMessagesRetCodec,
};

export const domainStartDirtyRateCalc: Procedure<types.DomainStartDirtyRateCalcArgs, void> = {
  name: 'DOMAIN_START_DIRTY_RATE_CALC',
  program: REMOTE_PROGRAM,
  number: 427,
  args: codecs.domainStartDirtyRateCalcArgsCodec,
  ret: nothing,
};

export const nodeDeviceDefineXml: Procedure<types.NodeDeviceDefineXmlArgs, types.NodeDeviceDefineXmlRet> = {
  name: 'NODE_DEVICE_DEFINE_XML',
  program: REMOTE_PROGRAM,
  number: 428,
  args: codecs.nodeDeviceDefineXmlArgsCodec,
  ret: codecs.nodeDeviceDefineXmlRetCodec,
};

export const nodeDeviceUndefine: Procedure<types.NodeDeviceUndefineArgs, void> = {
  name: 'NODE_DEVICE_UNDEFINE',
  program: REMOTE_PROGRAM,
  number: 429,
  args: codecs.nodeDeviceUndefineArgsCodec,
  ret: nothing,
};

export const nodeDeviceCreate: Procedure<types.NodeDeviceCreateArgs, void> = {
  name: 'NODE_DEVICE_CREATE',
  program: REMOTE_PROGRAM,
  number: 430,
  args: codecs.nodeDeviceCreateArgsCodec,
  ret: nothing,
};

export const nwfilterDefineXmlFlags: Procedure<types.NwfilterDefineXmlFlagsArgs, types.NwfilterDefineXmlFlagsRet> = {
  name: 'NWFILTER_DEFINE_XML_FLAGS',
  program: REMOTE_PROGRAM,
  number: 431,
  args: codecs.nwfilterDefineXmlFlagsArgsCodec,
  ret: codecs.nwfilterDefineXmlFlagsRetCodec,
};

export const networkDefineXmlFlags: Procedure<types.NetworkDefineXmlFlagsArgs, types.NetworkDefineXmlFlagsRet> = {
  name: 'NETWORK_DEFINE_XML_FLAGS',
  program: REMOTE_PROGRAM,
  number: 432,
  args: codecs.networkDefineXmlFlagsArgsCodec,
  ret: codecs.networkDefineXmlFlagsRetCodec,
};

export const nodeDeviceGetAutostart: Procedure<types.NodeDeviceGetAutostartArgs, types.NodeDeviceGetAutostartRet> = {
  name: 'NODE_DEVICE_GET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 433,
  args: codecs.nodeDeviceGetAutostartArgsCodec,
  ret: codecs.nodeDeviceGetAutostartRetCodec,
};

export const nodeDeviceSetAutostart: Procedure<types.NodeDeviceSetAutostartArgs, void> = {
  name: 'NODE_DEVICE_SET_AUTOSTART',
  program: REMOTE_PROGRAM,
  number: 434,
  args: codecs.nodeDeviceSetAutostartArgsCodec,
  ret: nothing,
};

export const nodeDeviceIsPersistent: Procedure<types.NodeDeviceIsPersistentArgs, types.NodeDeviceIsPersistentRet> = {
  name: 'NODE_DEVICE_IS_PERSISTENT',
  program: REMOTE_PROGRAM,
  number: 435,
  args: codecs.nodeDeviceIsPersistentArgsCodec,
  ret: codecs.nodeDeviceIsPersistentRetCodec,
};

export const nodeDeviceIsActive: Procedure<types.NodeDeviceIsActiveArgs, types.NodeDeviceIsActiveRet> = {
  name: 'NODE_DEVICE_IS_ACTIVE',
  program: REMOTE_PROGRAM,
  number: 436,
  args: codecs.nodeDeviceIsActiveArgsCodec,
  ret: codecs.nodeDeviceIsActiveRetCodec,
};

export const networkCreateXmlFlags: Procedure<types.NetworkCreateXmlFlagsArgs, types.NetworkCreateXmlFlagsRet> = {
  name: 'NETWORK_CREATE_XML_FLAGS',
  program: REMOTE_PROGRAM,
  number: 437,
  args: codecs.networkCreateXmlFlagsArgsCodec,
  ret: codecs.networkCreateXmlFlagsRetCodec,
};

export const domainSetLaunchSecurityState: Procedure<types.DomainSetLaunchSecurityStateArgs, void> = {
  name: 'DOMAIN_SET_LAUNCH_SECURITY_STATE',
  program: REMOTE_PROGRAM,
  number: 439,
  args: codecs.domainSetLaunchSecurityStateArgsCodec,
  ret: nothing,
};

export const domainSaveParams: Procedure<types.DomainSaveParamsArgs, void> = {
  name: 'DOMAIN_SAVE_PARAMS',
  program: REMOTE_PROGRAM,
  number: 440,
  args: codecs.domainSaveParamsArgsCodec,
  ret: nothing,
};

export const domainRestoreParams: Procedure<types.DomainRestoreParamsArgs, void> = {
  name: 'DOMAIN_RESTORE_PARAMS',
  program: REMOTE_PROGRAM,
  number: 441,
  args: codecs.domainRestoreParamsArgsCodec,
  ret: nothing,
};

export const domainAbortJobFlags: Procedure<types.DomainAbortJobFlagsArgs, void> = {
  name: 'DOMAIN_ABORT_JOB_FLAGS',
  program: REMOTE_PROGRAM,
  number: 442,
  args: codecs.domainAbortJobFlagsArgsCodec,
  ret: nothing,
};

export const domainFdAssociate: Procedure<types.DomainFdAssociateArgs, void> = {
  name: 'DOMAIN_FD_ASSOCIATE',
  program: REMOTE_PROGRAM,
  number: 443,
  args: codecs.domainFdAssociateArgsCodec,
  ret: nothing,
};

export const qemuDomainMonitorCommand: Procedure<types.QemuDomainMonitorCommandArgs, types.QemuDomainMonitorCommandRet> = {
  name: 'DOMAIN_MONITOR_COMMAND',
  program: QEMU_PROGRAM,
  number: 1,
  args: codecs.qemuDomainMonitorCommandArgsCodec,
  ret: codecs.qemuDomainMonitorCommandRetCodec,
};

export const qemuDomainAttach: Procedure<types.QemuDomainAttachArgs, types.QemuDomainAttachRet> = {
  name: 'DOMAIN_ATTACH',
  program: QEMU_PROGRAM,
  number: 2,
  args: codecs.qemuDomainAttachArgsCodec,
  ret: codecs.qemuDomainAttachRetCodec,
};

export const qemuDomainAgentCommand: Procedure<types.QemuDomainAgentCommandArgs, types.QemuDomainAgentCommandRet> = {
  name: 'DOMAIN_AGENT_COMMAND',
  program: QEMU_PROGRAM,
  number: 3,
  args: codecs.qemuDomainAgentCommandArgsCodec,
  ret: codecs.qemuDomainAgentCommandRetCodec,
};

export const qemuConnectDomainMonitorEventRegister: Procedure<types.QemuConnectDomainMonitorEventRegisterArgs, types.QemuConnectDomainMonitorEventRegisterRet> = {
  name: 'CONNECT_DOMAIN_MONITOR_EVENT_REGISTER',
  program: QEMU_PROGRAM,
  number: 4,
  args: codecs.qemuConnectDomainMonitorEventRegisterArgsCodec,
  ret: codecs.qemuConnectDomainMonitorEventRegisterRetCodec,
};

export const qemuConnectDomainMonitorEventDeregister: Procedure<types.QemuConnectDomainMonitorEventDeregisterArgs, void> = {
  name: 'CONNECT_DOMAIN_MONITOR_EVENT_DEREGISTER',
  program: QEMU_PROGRAM,
  number: 5,
  args: codecs.qemuConnectDomainMonitorEventDeregisterArgsCodec,
  ret: nothing,
};

export const qemuDomainMonitorCommandWithFiles: Procedure<types.QemuDomainMonitorCommandWithFilesArgs, types.QemuDomainMonitorCommandWithFilesRet> = {
  name: 'DOMAIN_MONITOR_COMMAND_WITH_FILES',
  program: QEMU_PROGRAM,
  number: 7,
  args: codecs.qemuDomainMonitorCommandWithFilesArgsCodec,
  ret: codecs.qemuDomainMonitorCommandWithFilesRetCodec,
};
