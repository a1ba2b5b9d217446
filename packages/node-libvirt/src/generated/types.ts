// Written by scripts/generate.ts from libvirt's protocol definitions. Do not edit.

export type ConnectOpenArgs = {
  name: string | null;
  flags: number;
};

export type ConnectGetTypeRet = {
  type: string;
};

export type ConnectGetVersionRet = {
  hvVer: bigint;
};

export type ConnectGetMaxVcpusArgs = {
  type: string | null;
};

export type ConnectGetMaxVcpusRet = {
  maxVcpus: number;
};

export type NodeGetInfoRet = {
  model: string;
  memory: bigint;
  cpus: number;
  mhz: number;
  nodes: number;
  sockets: number;
  cores: number;
  threads: number;
};

export type ConnectGetCapabilitiesRet = {
  capabilities: string;
};

export type Domain = {
  name: string;
  uuid: Buffer;
  id: number;
};

export type DomainAttachDeviceArgs = {
  dom: Domain;
  xml: string;
};

export type DomainCreateArgs = {
  dom: Domain;
};

export type DomainCreateXmlArgs = {
  xmlDesc: string;
  flags: number;
};

export type DomainCreateXmlRet = {
  dom: Domain;
};

export type DomainDefineXmlArgs = {
  xml: string;
};

export type DomainDefineXmlRet = {
  dom: Domain;
};

export type DomainDestroyArgs = {
  dom: Domain;
};

export type DomainDetachDeviceArgs = {
  dom: Domain;
  xml: string;
};

export type DomainGetXmlDescArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetXmlDescRet = {
  xml: string;
};

export type DomainGetAutostartArgs = {
  dom: Domain;
};

export type DomainGetAutostartRet = {
  autostart: number;
};

export type DomainGetInfoArgs = {
  dom: Domain;
};

export type DomainGetInfoRet = {
  state: number;
  maxMem: bigint;
  memory: bigint;
  nrVirtCpu: number;
  cpuTime: bigint;
};

export type DomainGetMaxMemoryArgs = {
  dom: Domain;
};

export type DomainGetMaxMemoryRet = {
  memory: bigint;
};

export type DomainGetMaxVcpusArgs = {
  dom: Domain;
};

export type DomainGetMaxVcpusRet = {
  num: number;
};

export type DomainGetOsTypeArgs = {
  dom: Domain;
};

export type DomainGetOsTypeRet = {
  type: string;
};

export type DomainGetVcpusArgs = {
  dom: Domain;
  maxinfo: number;
  maplen: number;
};

export type VcpuInfo = {
  number: number;
  state: number;
  cpuTime: bigint;
  cpu: number;
};

export type DomainGetVcpusRet = {
  info: VcpuInfo[];
  cpumaps: Buffer;
};

export type ConnectListDefinedDomainsArgs = {
  maxnames: number;
};

export type ConnectListDefinedDomainsRet = {
  names: string[];
};

export type DomainLookupByIdArgs = {
  id: number;
};

export type DomainLookupByIdRet = {
  dom: Domain;
};

export type DomainLookupByNameArgs = {
  name: string;
};

export type DomainLookupByNameRet = {
  dom: Domain;
};

export type DomainLookupByUuidArgs = {
  uuid: Buffer;
};

export type DomainLookupByUuidRet = {
  dom: Domain;
};

export type ConnectNumOfDefinedDomainsRet = {
  num: number;
};

export type DomainPinVcpuArgs = {
  dom: Domain;
  vcpu: number;
  cpumap: Buffer;
};

export type DomainRebootArgs = {
  dom: Domain;
  flags: number;
};

export type DomainResumeArgs = {
  dom: Domain;
};

export type DomainSetAutostartArgs = {
  dom: Domain;
  autostart: number;
};

export type DomainSetMaxMemoryArgs = {
  dom: Domain;
  memory: bigint;
};

export type DomainSetMemoryArgs = {
  dom: Domain;
  memory: bigint;
};

export type DomainSetVcpusArgs = {
  dom: Domain;
  nvcpus: number;
};

export type DomainShutdownArgs = {
  dom: Domain;
};

export type DomainSuspendArgs = {
  dom: Domain;
};

export type DomainUndefineArgs = {
  dom: Domain;
};

export type ConnectListDefinedNetworksArgs = {
  maxnames: number;
};

export type ConnectListDefinedNetworksRet = {
  names: string[];
};

export type ConnectListDomainsArgs = {
  maxids: number;
};

export type ConnectListDomainsRet = {
  ids: number[];
};

export type ConnectListNetworksArgs = {
  maxnames: number;
};

export type ConnectListNetworksRet = {
  names: string[];
};

export type Network = {
  name: string;
  uuid: Buffer;
};

export type NetworkCreateArgs = {
  net: Network;
};

export type NetworkCreateXmlArgs = {
  xml: string;
};

export type NetworkCreateXmlRet = {
  net: Network;
};

export type NetworkDefineXmlArgs = {
  xml: string;
};

export type NetworkDefineXmlRet = {
  net: Network;
};

export type NetworkDestroyArgs = {
  net: Network;
};

export type NetworkGetXmlDescArgs = {
  net: Network;
  flags: number;
};

export type NetworkGetXmlDescRet = {
  xml: string;
};

export type NetworkGetAutostartArgs = {
  net: Network;
};

export type NetworkGetAutostartRet = {
  autostart: number;
};

export type NetworkGetBridgeNameArgs = {
  net: Network;
};

export type NetworkGetBridgeNameRet = {
  name: string;
};

export type NetworkLookupByNameArgs = {
  name: string;
};

export type NetworkLookupByNameRet = {
  net: Network;
};

export type NetworkLookupByUuidArgs = {
  uuid: Buffer;
};

export type NetworkLookupByUuidRet = {
  net: Network;
};

export type NetworkSetAutostartArgs = {
  net: Network;
  autostart: number;
};

export type NetworkUndefineArgs = {
  net: Network;
};

export type ConnectNumOfDefinedNetworksRet = {
  num: number;
};

export type ConnectNumOfDomainsRet = {
  num: number;
};

export type ConnectNumOfNetworksRet = {
  num: number;
};

export type DomainCoreDumpArgs = {
  dom: Domain;
  to: string;
  flags: number;
};

export type DomainRestoreArgs = {
  from: string;
};

export type DomainSaveArgs = {
  dom: Domain;
  to: string;
};

export type DomainGetSchedulerTypeArgs = {
  dom: Domain;
};

export type DomainGetSchedulerTypeRet = {
  type: string;
  nparams: number;
};

export type DomainGetSchedulerParametersArgs = {
  dom: Domain;
  nparams: number;
};

export type TypedParamValue =
  | { type: 1; value: number }
  | { type: 2; value: number }
  | { type: 3; value: bigint }
  | { type: 4; value: bigint }
  | { type: 5; value: number }
  | { type: 6; value: number }
  | { type: 7; value: string };

export type TypedParam = {
  field: string;
  value: TypedParamValue;
};

export type DomainGetSchedulerParametersRet = {
  params: TypedParam[];
};

export type DomainSetSchedulerParametersArgs = {
  dom: Domain;
  params: TypedParam[];
};

export type ConnectGetHostnameRet = {
  hostname: string;
};

export type ConnectSupportsFeatureArgs = {
  feature: number;
};

export type ConnectSupportsFeatureRet = {
  supported: number;
};

export type DomainMigratePrepareArgs = {
  uriIn: string | null;
  flags: bigint;
  dname: string | null;
  resource: bigint;
};

export type DomainMigratePrepareRet = {
  cookie: Buffer;
  uriOut: string | null;
};

export type DomainMigratePerformArgs = {
  dom: Domain;
  cookie: Buffer;
  uri: string;
  flags: bigint;
  dname: string | null;
  resource: bigint;
};

export type DomainMigrateFinishArgs = {
  dname: string;
  cookie: Buffer;
  uri: string;
  flags: bigint;
};

export type DomainMigrateFinishRet = {
  ddom: Domain;
};

export type DomainBlockStatsArgs = {
  dom: Domain;
  path: string;
};

export type DomainBlockStatsRet = {
  rdReq: bigint;
  rdBytes: bigint;
  wrReq: bigint;
  wrBytes: bigint;
  errs: bigint;
};

export type DomainInterfaceStatsArgs = {
  dom: Domain;
  device: string;
};

export type DomainInterfaceStatsRet = {
  rxBytes: bigint;
  rxPackets: bigint;
  rxErrs: bigint;
  rxDrop: bigint;
  txBytes: bigint;
  txPackets: bigint;
  txErrs: bigint;
  txDrop: bigint;
};

export type AuthListRet = {
  types: number[];
};

export type AuthSaslInitRet = {
  mechlist: string;
};

export type AuthSaslStartArgs = {
  mech: string;
  nil: number;
  data: string;
};

export type AuthSaslStartRet = {
  complete: number;
  nil: number;
  data: string;
};

export type AuthSaslStepArgs = {
  nil: number;
  data: string;
};

export type AuthSaslStepRet = {
  complete: number;
  nil: number;
  data: string;
};

export type AuthPolkitRet = {
  complete: number;
};

export type ConnectNumOfStoragePoolsRet = {
  num: number;
};

export type ConnectListStoragePoolsArgs = {
  maxnames: number;
};

export type ConnectListStoragePoolsRet = {
  names: string[];
};

export type ConnectNumOfDefinedStoragePoolsRet = {
  num: number;
};

export type ConnectListDefinedStoragePoolsArgs = {
  maxnames: number;
};

export type ConnectListDefinedStoragePoolsRet = {
  names: string[];
};

export type ConnectFindStoragePoolSourcesArgs = {
  type: string;
  srcSpec: string | null;
  flags: number;
};

export type ConnectFindStoragePoolSourcesRet = {
  xml: string;
};

export type StoragePoolCreateXmlArgs = {
  xml: string;
  flags: number;
};

export type StoragePool = {
  name: string;
  uuid: Buffer;
};

export type StoragePoolCreateXmlRet = {
  pool: StoragePool;
};

export type StoragePoolDefineXmlArgs = {
  xml: string;
  flags: number;
};

export type StoragePoolDefineXmlRet = {
  pool: StoragePool;
};

export type StoragePoolCreateArgs = {
  pool: StoragePool;
  flags: number;
};

export type StoragePoolBuildArgs = {
  pool: StoragePool;
  flags: number;
};

export type StoragePoolDestroyArgs = {
  pool: StoragePool;
};

export type StoragePoolDeleteArgs = {
  pool: StoragePool;
  flags: number;
};

export type StoragePoolUndefineArgs = {
  pool: StoragePool;
};

export type StoragePoolRefreshArgs = {
  pool: StoragePool;
  flags: number;
};

export type StoragePoolLookupByNameArgs = {
  name: string;
};

export type StoragePoolLookupByNameRet = {
  pool: StoragePool;
};

export type StoragePoolLookupByUuidArgs = {
  uuid: Buffer;
};

export type StoragePoolLookupByUuidRet = {
  pool: StoragePool;
};

export type StorageVol = {
  pool: string;
  name: string;
  key: string;
};

export type StoragePoolLookupByVolumeArgs = {
  vol: StorageVol;
};

export type StoragePoolLookupByVolumeRet = {
  pool: StoragePool;
};

export type StoragePoolGetInfoArgs = {
  pool: StoragePool;
};

export type StoragePoolGetInfoRet = {
  state: number;
  capacity: bigint;
  allocation: bigint;
  available: bigint;
};

export type StoragePoolGetXmlDescArgs = {
  pool: StoragePool;
  flags: number;
};

export type StoragePoolGetXmlDescRet = {
  xml: string;
};

export type StoragePoolGetAutostartArgs = {
  pool: StoragePool;
};

export type StoragePoolGetAutostartRet = {
  autostart: number;
};

export type StoragePoolSetAutostartArgs = {
  pool: StoragePool;
  autostart: number;
};

export type StoragePoolNumOfVolumesArgs = {
  pool: StoragePool;
};

export type StoragePoolNumOfVolumesRet = {
  num: number;
};

export type StoragePoolListVolumesArgs = {
  pool: StoragePool;
  maxnames: number;
};

export type StoragePoolListVolumesRet = {
  names: string[];
};

export type StorageVolCreateXmlArgs = {
  pool: StoragePool;
  xml: string;
  flags: number;
};

export type StorageVolCreateXmlRet = {
  vol: StorageVol;
};

export type StorageVolDeleteArgs = {
  vol: StorageVol;
  flags: number;
};

export type StorageVolLookupByNameArgs = {
  pool: StoragePool;
  name: string;
};

export type StorageVolLookupByNameRet = {
  vol: StorageVol;
};

export type StorageVolLookupByKeyArgs = {
  key: string;
};

export type StorageVolLookupByKeyRet = {
  vol: StorageVol;
};

export type StorageVolLookupByPathArgs = {
  path: string;
};

export type StorageVolLookupByPathRet = {
  vol: StorageVol;
};

export type StorageVolGetInfoArgs = {
  vol: StorageVol;
};

export type StorageVolGetInfoRet = {
  type: number;
  capacity: bigint;
  allocation: bigint;
};

export type StorageVolGetXmlDescArgs = {
  vol: StorageVol;
  flags: number;
};

export type StorageVolGetXmlDescRet = {
  xml: string;
};

export type StorageVolGetPathArgs = {
  vol: StorageVol;
};

export type StorageVolGetPathRet = {
  name: string;
};

export type NodeGetCellsFreeMemoryArgs = {
  startCell: number;
  maxcells: number;
};

export type NodeGetCellsFreeMemoryRet = {
  cells: bigint[];
};

export type NodeGetFreeMemoryRet = {
  freeMem: bigint;
};

export type DomainBlockPeekArgs = {
  dom: Domain;
  path: string;
  offset: bigint;
  size: number;
  flags: number;
};

export type DomainBlockPeekRet = {
  buffer: Buffer;
};

export type DomainMemoryPeekArgs = {
  dom: Domain;
  offset: bigint;
  size: number;
  flags: number;
};

export type DomainMemoryPeekRet = {
  buffer: Buffer;
};

export type ConnectDomainEventRegisterRet = {
  cbRegistered: number;
};

export type ConnectDomainEventDeregisterRet = {
  cbRegistered: number;
};

export type DomainMigratePrepare2Args = {
  uriIn: string | null;
  flags: bigint;
  dname: string | null;
  resource: bigint;
  domXml: string;
};

export type DomainMigratePrepare2Ret = {
  cookie: Buffer;
  uriOut: string | null;
};

export type DomainMigrateFinish2Args = {
  dname: string;
  cookie: Buffer;
  uri: string;
  flags: bigint;
  retcode: number;
};

export type DomainMigrateFinish2Ret = {
  ddom: Domain;
};

export type ConnectGetUriRet = {
  uri: string;
};

export type NodeNumOfDevicesArgs = {
  cap: string | null;
  flags: number;
};

export type NodeNumOfDevicesRet = {
  num: number;
};

export type NodeListDevicesArgs = {
  cap: string | null;
  maxnames: number;
  flags: number;
};

export type NodeListDevicesRet = {
  names: string[];
};

export type NodeDeviceLookupByNameArgs = {
  name: string;
};

export type NodeDevice = {
  name: string;
};

export type NodeDeviceLookupByNameRet = {
  dev: NodeDevice;
};

export type NodeDeviceGetXmlDescArgs = {
  name: string;
  flags: number;
};

export type NodeDeviceGetXmlDescRet = {
  xml: string;
};

export type NodeDeviceGetParentArgs = {
  name: string;
};

export type NodeDeviceGetParentRet = {
  parentName: string | null;
};

export type NodeDeviceNumOfCapsArgs = {
  name: string;
};

export type NodeDeviceNumOfCapsRet = {
  num: number;
};

export type NodeDeviceListCapsArgs = {
  name: string;
  maxnames: number;
};

export type NodeDeviceListCapsRet = {
  names: string[];
};

export type NodeDeviceDettachArgs = {
  name: string;
};

export type NodeDeviceReAttachArgs = {
  name: string;
};

export type NodeDeviceResetArgs = {
  name: string;
};

export type DomainGetSecurityLabelArgs = {
  dom: Domain;
};

export type DomainGetSecurityLabelRet = {
  label: string;
  enforcing: number;
};

export type NodeGetSecurityModelRet = {
  model: string;
  doi: string;
};

export type NodeDeviceCreateXmlArgs = {
  xmlDesc: string;
  flags: number;
};

export type NodeDeviceCreateXmlRet = {
  dev: NodeDevice;
};

export type NodeDeviceDestroyArgs = {
  name: string;
};

export type StorageVolCreateXmlFromArgs = {
  pool: StoragePool;
  xml: string;
  clonevol: StorageVol;
  flags: number;
};

export type StorageVolCreateXmlFromRet = {
  vol: StorageVol;
};

export type ConnectNumOfInterfacesRet = {
  num: number;
};

export type ConnectListInterfacesArgs = {
  maxnames: number;
};

export type ConnectListInterfacesRet = {
  names: string[];
};

export type InterfaceLookupByNameArgs = {
  name: string;
};

export type Interface = {
  name: string;
  mac: string;
};

export type InterfaceLookupByNameRet = {
  iface: Interface;
};

export type InterfaceLookupByMacStringArgs = {
  mac: string;
};

export type InterfaceLookupByMacStringRet = {
  iface: Interface;
};

export type InterfaceGetXmlDescArgs = {
  iface: Interface;
  flags: number;
};

export type InterfaceGetXmlDescRet = {
  xml: string;
};

export type InterfaceDefineXmlArgs = {
  xml: string;
  flags: number;
};

export type InterfaceDefineXmlRet = {
  iface: Interface;
};

export type InterfaceUndefineArgs = {
  iface: Interface;
};

export type InterfaceCreateArgs = {
  iface: Interface;
  flags: number;
};

export type InterfaceDestroyArgs = {
  iface: Interface;
  flags: number;
};

export type ConnectDomainXmlFromNativeArgs = {
  nativeFormat: string;
  nativeConfig: string;
  flags: number;
};

export type ConnectDomainXmlFromNativeRet = {
  domainXml: string;
};

export type ConnectDomainXmlToNativeArgs = {
  nativeFormat: string;
  domainXml: string;
  flags: number;
};

export type ConnectDomainXmlToNativeRet = {
  nativeConfig: string;
};

export type ConnectNumOfDefinedInterfacesRet = {
  num: number;
};

export type ConnectListDefinedInterfacesArgs = {
  maxnames: number;
};

export type ConnectListDefinedInterfacesRet = {
  names: string[];
};

export type ConnectNumOfSecretsRet = {
  num: number;
};

export type ConnectListSecretsArgs = {
  maxuuids: number;
};

export type ConnectListSecretsRet = {
  uuids: string[];
};

export type SecretLookupByUuidArgs = {
  uuid: Buffer;
};

export type Secret = {
  uuid: Buffer;
  usageType: number;
  usageId: string;
};

export type SecretLookupByUuidRet = {
  secret: Secret;
};

export type SecretDefineXmlArgs = {
  xml: string;
  flags: number;
};

export type SecretDefineXmlRet = {
  secret: Secret;
};

export type SecretGetXmlDescArgs = {
  secret: Secret;
  flags: number;
};

export type SecretGetXmlDescRet = {
  xml: string;
};

export type SecretSetValueArgs = {
  secret: Secret;
  value: Buffer;
  flags: number;
};

export type SecretGetValueArgs = {
  secret: Secret;
  flags: number;
};

export type SecretGetValueRet = {
  value: Buffer;
};

export type SecretUndefineArgs = {
  secret: Secret;
};

export type SecretLookupByUsageArgs = {
  usageType: number;
  usageId: string;
};

export type SecretLookupByUsageRet = {
  secret: Secret;
};

export type DomainMigratePrepareTunnelArgs = {
  flags: bigint;
  dname: string | null;
  resource: bigint;
  domXml: string;
};

export type ConnectIsSecureRet = {
  secure: number;
};

export type DomainIsActiveArgs = {
  dom: Domain;
};

export type DomainIsActiveRet = {
  active: number;
};

export type DomainIsPersistentArgs = {
  dom: Domain;
};

export type DomainIsPersistentRet = {
  persistent: number;
};

export type NetworkIsActiveArgs = {
  net: Network;
};

export type NetworkIsActiveRet = {
  active: number;
};

export type NetworkIsPersistentArgs = {
  net: Network;
};

export type NetworkIsPersistentRet = {
  persistent: number;
};

export type StoragePoolIsActiveArgs = {
  pool: StoragePool;
};

export type StoragePoolIsActiveRet = {
  active: number;
};

export type StoragePoolIsPersistentArgs = {
  pool: StoragePool;
};

export type StoragePoolIsPersistentRet = {
  persistent: number;
};

export type InterfaceIsActiveArgs = {
  iface: Interface;
};

export type InterfaceIsActiveRet = {
  active: number;
};

export type ConnectGetLibVersionRet = {
  libVer: bigint;
};

export type ConnectCompareCpuArgs = {
  xml: string;
  flags: number;
};

export type ConnectCompareCpuRet = {
  result: number;
};

export type DomainMemoryStatsArgs = {
  dom: Domain;
  maxStats: number;
  flags: number;
};

export type DomainMemoryStat = {
  tag: number;
  val: bigint;
};

export type DomainMemoryStatsRet = {
  stats: DomainMemoryStat[];
};

export type DomainAttachDeviceFlagsArgs = {
  dom: Domain;
  xml: string;
  flags: number;
};

export type DomainDetachDeviceFlagsArgs = {
  dom: Domain;
  xml: string;
  flags: number;
};

export type ConnectBaselineCpuArgs = {
  xmlCPUs: string[];
  flags: number;
};

export type ConnectBaselineCpuRet = {
  cpu: string;
};

export type DomainGetJobInfoArgs = {
  dom: Domain;
};

export type DomainGetJobInfoRet = {
  type: number;
  timeElapsed: bigint;
  timeRemaining: bigint;
  dataTotal: bigint;
  dataProcessed: bigint;
  dataRemaining: bigint;
  memTotal: bigint;
  memProcessed: bigint;
  memRemaining: bigint;
  fileTotal: bigint;
  fileProcessed: bigint;
  fileRemaining: bigint;
};

export type DomainAbortJobArgs = {
  dom: Domain;
};

export type StorageVolWipeArgs = {
  vol: StorageVol;
  flags: number;
};

export type DomainMigrateSetMaxDowntimeArgs = {
  dom: Domain;
  downtime: bigint;
  flags: number;
};

export type ConnectDomainEventRegisterAnyArgs = {
  eventId: number;
};

export type ConnectDomainEventDeregisterAnyArgs = {
  eventId: number;
};

export type DomainUpdateDeviceFlagsArgs = {
  dom: Domain;
  xml: string;
  flags: number;
};

export type NwfilterLookupByNameArgs = {
  name: string;
};

export type Nwfilter = {
  name: string;
  uuid: Buffer;
};

export type NwfilterLookupByNameRet = {
  nwfilter: Nwfilter;
};

export type NwfilterLookupByUuidArgs = {
  uuid: Buffer;
};

export type NwfilterLookupByUuidRet = {
  nwfilter: Nwfilter;
};

export type NwfilterGetXmlDescArgs = {
  nwfilter: Nwfilter;
  flags: number;
};

export type NwfilterGetXmlDescRet = {
  xml: string;
};

export type ConnectNumOfNwfiltersRet = {
  num: number;
};

export type ConnectListNwfiltersArgs = {
  maxnames: number;
};

export type ConnectListNwfiltersRet = {
  names: string[];
};

export type NwfilterDefineXmlArgs = {
  xml: string;
};

export type NwfilterDefineXmlRet = {
  nwfilter: Nwfilter;
};

export type NwfilterUndefineArgs = {
  nwfilter: Nwfilter;
};

export type DomainManagedSaveArgs = {
  dom: Domain;
  flags: number;
};

export type DomainHasManagedSaveImageArgs = {
  dom: Domain;
  flags: number;
};

export type DomainHasManagedSaveImageRet = {
  result: number;
};

export type DomainManagedSaveRemoveArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSnapshotCreateXmlArgs = {
  dom: Domain;
  xmlDesc: string;
  flags: number;
};

export type DomainSnapshot = {
  name: string;
  dom: Domain;
};

export type DomainSnapshotCreateXmlRet = {
  snap: DomainSnapshot;
};

export type DomainSnapshotGetXmlDescArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainSnapshotGetXmlDescRet = {
  xml: string;
};

export type DomainSnapshotNumArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSnapshotNumRet = {
  num: number;
};

export type DomainSnapshotListNamesArgs = {
  dom: Domain;
  maxnames: number;
  flags: number;
};

export type DomainSnapshotListNamesRet = {
  names: string[];
};

export type DomainSnapshotLookupByNameArgs = {
  dom: Domain;
  name: string;
  flags: number;
};

export type DomainSnapshotLookupByNameRet = {
  snap: DomainSnapshot;
};

export type DomainHasCurrentSnapshotArgs = {
  dom: Domain;
  flags: number;
};

export type DomainHasCurrentSnapshotRet = {
  result: number;
};

export type DomainSnapshotCurrentArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSnapshotCurrentRet = {
  snap: DomainSnapshot;
};

export type DomainRevertToSnapshotArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainSnapshotDeleteArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainGetBlockInfoArgs = {
  dom: Domain;
  path: string;
  flags: number;
};

export type DomainGetBlockInfoRet = {
  allocation: bigint;
  capacity: bigint;
  physical: bigint;
};

export type DomainCreateWithFlagsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainCreateWithFlagsRet = {
  dom: Domain;
};

export type DomainSetMemoryParametersArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type DomainGetMemoryParametersArgs = {
  dom: Domain;
  nparams: number;
  flags: number;
};

export type DomainGetMemoryParametersRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainSetVcpusFlagsArgs = {
  dom: Domain;
  nvcpus: number;
  flags: number;
};

export type DomainGetVcpusFlagsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetVcpusFlagsRet = {
  num: number;
};

export type DomainOpenConsoleArgs = {
  dom: Domain;
  devName: string | null;
  flags: number;
};

export type DomainIsUpdatedArgs = {
  dom: Domain;
};

export type DomainIsUpdatedRet = {
  updated: number;
};

export type ConnectGetSysinfoArgs = {
  flags: number;
};

export type ConnectGetSysinfoRet = {
  sysinfo: string;
};

export type DomainSetMemoryFlagsArgs = {
  dom: Domain;
  memory: bigint;
  flags: number;
};

export type DomainSetBlkioParametersArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type DomainGetBlkioParametersArgs = {
  dom: Domain;
  nparams: number;
  flags: number;
};

export type DomainGetBlkioParametersRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainMigrateSetMaxSpeedArgs = {
  dom: Domain;
  bandwidth: bigint;
  flags: number;
};

export type StorageVolUploadArgs = {
  vol: StorageVol;
  offset: bigint;
  length: bigint;
  flags: number;
};

export type StorageVolDownloadArgs = {
  vol: StorageVol;
  offset: bigint;
  length: bigint;
  flags: number;
};

export type DomainInjectNmiArgs = {
  dom: Domain;
  flags: number;
};

export type DomainScreenshotArgs = {
  dom: Domain;
  screen: number;
  flags: number;
};

export type DomainScreenshotRet = {
  mime: string | null;
};

export type DomainGetStateArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetStateRet = {
  state: number;
  reason: number;
};

export type DomainMigrateBegin3Args = {
  dom: Domain;
  xmlin: string | null;
  flags: bigint;
  dname: string | null;
  resource: bigint;
};

export type DomainMigrateBegin3Ret = {
  cookieOut: Buffer;
  xml: string;
};

export type DomainMigratePrepare3Args = {
  cookieIn: Buffer;
  uriIn: string | null;
  flags: bigint;
  dname: string | null;
  resource: bigint;
  domXml: string;
};

export type DomainMigratePrepare3Ret = {
  cookieOut: Buffer;
  uriOut: string | null;
};

export type DomainMigratePrepareTunnel3Args = {
  cookieIn: Buffer;
  flags: bigint;
  dname: string | null;
  resource: bigint;
  domXml: string;
};

export type DomainMigratePrepareTunnel3Ret = {
  cookieOut: Buffer;
};

export type DomainMigratePerform3Args = {
  dom: Domain;
  xmlin: string | null;
  cookieIn: Buffer;
  dconnuri: string | null;
  uri: string | null;
  flags: bigint;
  dname: string | null;
  resource: bigint;
};

export type DomainMigratePerform3Ret = {
  cookieOut: Buffer;
};

export type DomainMigrateFinish3Args = {
  dname: string;
  cookieIn: Buffer;
  dconnuri: string | null;
  uri: string | null;
  flags: bigint;
  cancelled: number;
};

export type DomainMigrateFinish3Ret = {
  dom: Domain;
  cookieOut: Buffer;
};

export type DomainMigrateConfirm3Args = {
  dom: Domain;
  cookieIn: Buffer;
  flags: bigint;
  cancelled: number;
};

export type DomainSetSchedulerParametersFlagsArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type InterfaceChangeBeginArgs = {
  flags: number;
};

export type InterfaceChangeCommitArgs = {
  flags: number;
};

export type InterfaceChangeRollbackArgs = {
  flags: number;
};

export type DomainGetSchedulerParametersFlagsArgs = {
  dom: Domain;
  nparams: number;
  flags: number;
};

export type DomainGetSchedulerParametersFlagsRet = {
  params: TypedParam[];
};

export type DomainPinVcpuFlagsArgs = {
  dom: Domain;
  vcpu: number;
  cpumap: Buffer;
  flags: number;
};

export type DomainSendKeyArgs = {
  dom: Domain;
  codeset: number;
  holdtime: number;
  keycodes: number[];
  flags: number;
};

export type NodeGetCpuStatsArgs = {
  cpuNum: number;
  nparams: number;
  flags: number;
};

export type NodeGetCpuStats = {
  field: string;
  value: bigint;
};

export type NodeGetCpuStatsRet = {
  params: NodeGetCpuStats[];
  nparams: number;
};

export type NodeGetMemoryStatsArgs = {
  nparams: number;
  cellNum: number;
  flags: number;
};

export type NodeGetMemoryStats = {
  field: string;
  value: bigint;
};

export type NodeGetMemoryStatsRet = {
  params: NodeGetMemoryStats[];
  nparams: number;
};

export type DomainGetControlInfoArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetControlInfoRet = {
  state: number;
  details: number;
  stateTime: bigint;
};

export type DomainGetVcpuPinInfoArgs = {
  dom: Domain;
  ncpumaps: number;
  maplen: number;
  flags: number;
};

export type DomainGetVcpuPinInfoRet = {
  cpumaps: Buffer;
  num: number;
};

export type DomainUndefineFlagsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSaveFlagsArgs = {
  dom: Domain;
  to: string;
  dxml: string | null;
  flags: number;
};

export type DomainRestoreFlagsArgs = {
  from: string;
  dxml: string | null;
  flags: number;
};

export type DomainDestroyFlagsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSaveImageGetXmlDescArgs = {
  file: string;
  flags: number;
};

export type DomainSaveImageGetXmlDescRet = {
  xml: string;
};

export type DomainSaveImageDefineXmlArgs = {
  file: string;
  dxml: string;
  flags: number;
};

export type DomainBlockJobAbortArgs = {
  dom: Domain;
  path: string;
  flags: number;
};

export type DomainGetBlockJobInfoArgs = {
  dom: Domain;
  path: string;
  flags: number;
};

export type DomainGetBlockJobInfoRet = {
  found: number;
  type: number;
  bandwidth: bigint;
  cur: bigint;
  end: bigint;
};

export type DomainBlockJobSetSpeedArgs = {
  dom: Domain;
  path: string;
  bandwidth: bigint;
  flags: number;
};

export type DomainBlockPullArgs = {
  dom: Domain;
  path: string;
  bandwidth: bigint;
  flags: number;
};

export type DomainMigrateGetMaxSpeedArgs = {
  dom: Domain;
  flags: number;
};

export type DomainMigrateGetMaxSpeedRet = {
  bandwidth: bigint;
};

export type DomainBlockStatsFlagsArgs = {
  dom: Domain;
  path: string;
  nparams: number;
  flags: number;
};

export type DomainBlockStatsFlagsRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainSnapshotGetParentArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainSnapshotGetParentRet = {
  snap: DomainSnapshot;
};

export type DomainResetArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSnapshotNumChildrenArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainSnapshotNumChildrenRet = {
  num: number;
};

export type DomainSnapshotListChildrenNamesArgs = {
  snap: DomainSnapshot;
  maxnames: number;
  flags: number;
};

export type DomainSnapshotListChildrenNamesRet = {
  names: string[];
};

export type DomainOpenGraphicsArgs = {
  dom: Domain;
  idx: number;
  flags: number;
};

export type NodeSuspendForDurationArgs = {
  target: number;
  duration: bigint;
  flags: number;
};

export type DomainBlockResizeArgs = {
  dom: Domain;
  disk: string;
  size: bigint;
  flags: number;
};

export type DomainSetBlockIoTuneArgs = {
  dom: Domain;
  disk: string;
  params: TypedParam[];
  flags: number;
};

export type DomainGetBlockIoTuneArgs = {
  dom: Domain;
  disk: string | null;
  nparams: number;
  flags: number;
};

export type DomainGetBlockIoTuneRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainSetNumaParametersArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type DomainGetNumaParametersArgs = {
  dom: Domain;
  nparams: number;
  flags: number;
};

export type DomainGetNumaParametersRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainSetInterfaceParametersArgs = {
  dom: Domain;
  device: string;
  params: TypedParam[];
  flags: number;
};

export type DomainGetInterfaceParametersArgs = {
  dom: Domain;
  device: string;
  nparams: number;
  flags: number;
};

export type DomainGetInterfaceParametersRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainShutdownFlagsArgs = {
  dom: Domain;
  flags: number;
};

export type StorageVolWipePatternArgs = {
  vol: StorageVol;
  algorithm: number;
  flags: number;
};

export type StorageVolResizeArgs = {
  vol: StorageVol;
  capacity: bigint;
  flags: number;
};

export type DomainPmSuspendForDurationArgs = {
  dom: Domain;
  target: number;
  duration: bigint;
  flags: number;
};

export type DomainGetCpuStatsArgs = {
  dom: Domain;
  nparams: number;
  startCpu: number;
  ncpus: number;
  flags: number;
};

export type DomainGetCpuStatsRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainGetDiskErrorsArgs = {
  dom: Domain;
  maxerrors: number;
  flags: number;
};

export type DomainDiskError = {
  disk: string;
  error: number;
};

export type DomainGetDiskErrorsRet = {
  errors: DomainDiskError[];
  nerrors: number;
};

export type DomainSetMetadataArgs = {
  dom: Domain;
  type: number;
  metadata: string | null;
  key: string | null;
  uri: string | null;
  flags: number;
};

export type DomainGetMetadataArgs = {
  dom: Domain;
  type: number;
  uri: string | null;
  flags: number;
};

export type DomainGetMetadataRet = {
  metadata: string;
};

export type DomainBlockRebaseArgs = {
  dom: Domain;
  path: string;
  base: string | null;
  bandwidth: bigint;
  flags: number;
};

export type DomainPmWakeupArgs = {
  dom: Domain;
  flags: number;
};

export type DomainSnapshotIsCurrentArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainSnapshotIsCurrentRet = {
  current: number;
};

export type DomainSnapshotHasMetadataArgs = {
  snap: DomainSnapshot;
  flags: number;
};

export type DomainSnapshotHasMetadataRet = {
  metadata: number;
};

export type ConnectListAllDomainsArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllDomainsRet = {
  domains: Domain[];
  ret: number;
};

export type DomainListAllSnapshotsArgs = {
  dom: Domain;
  needResults: number;
  flags: number;
};

export type DomainListAllSnapshotsRet = {
  snapshots: DomainSnapshot[];
  ret: number;
};

export type DomainSnapshotListAllChildrenArgs = {
  snapshot: DomainSnapshot;
  needResults: number;
  flags: number;
};

export type DomainSnapshotListAllChildrenRet = {
  snapshots: DomainSnapshot[];
  ret: number;
};

export type DomainGetHostnameArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetHostnameRet = {
  hostname: string;
};

export type DomainGetSecurityLabelListArgs = {
  dom: Domain;
};

export type DomainGetSecurityLabelListRet = {
  labels: DomainGetSecurityLabelRet[];
  ret: number;
};

export type DomainPinEmulatorArgs = {
  dom: Domain;
  cpumap: Buffer;
  flags: number;
};

export type DomainGetEmulatorPinInfoArgs = {
  dom: Domain;
  maplen: number;
  flags: number;
};

export type DomainGetEmulatorPinInfoRet = {
  cpumaps: Buffer;
  ret: number;
};

export type ConnectListAllStoragePoolsArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllStoragePoolsRet = {
  pools: StoragePool[];
  ret: number;
};

export type StoragePoolListAllVolumesArgs = {
  pool: StoragePool;
  needResults: number;
  flags: number;
};

export type StoragePoolListAllVolumesRet = {
  vols: StorageVol[];
  ret: number;
};

export type ConnectListAllNetworksArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllNetworksRet = {
  nets: Network[];
  ret: number;
};

export type ConnectListAllInterfacesArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllInterfacesRet = {
  ifaces: Interface[];
  ret: number;
};

export type ConnectListAllNodeDevicesArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllNodeDevicesRet = {
  devices: NodeDevice[];
  ret: number;
};

export type ConnectListAllNwfiltersArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllNwfiltersRet = {
  filters: Nwfilter[];
  ret: number;
};

export type ConnectListAllSecretsArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllSecretsRet = {
  secrets: Secret[];
  ret: number;
};

export type NodeSetMemoryParametersArgs = {
  params: TypedParam[];
  flags: number;
};

export type NodeGetMemoryParametersArgs = {
  nparams: number;
  flags: number;
};

export type NodeGetMemoryParametersRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainBlockCommitArgs = {
  dom: Domain;
  disk: string;
  base: string | null;
  top: string | null;
  bandwidth: bigint;
  flags: number;
};

export type NetworkUpdateArgs = {
  net: Network;
  command: number;
  section: number;
  parentIndex: number;
  xml: string;
  flags: number;
};

export type NodeGetCpuMapArgs = {
  needMap: number;
  needOnline: number;
  flags: number;
};

export type NodeGetCpuMapRet = {
  cpumap: Buffer;
  online: number;
  ret: number;
};

export type DomainFstrimArgs = {
  dom: Domain;
  mountPoint: string | null;
  minimum: bigint;
  flags: number;
};

export type DomainSendProcessSignalArgs = {
  dom: Domain;
  pidValue: bigint;
  signum: number;
  flags: number;
};

export type DomainOpenChannelArgs = {
  dom: Domain;
  name: string | null;
  flags: number;
};

export type NodeDeviceLookupScsiHostByWwnArgs = {
  wwnn: string;
  wwpn: string;
  flags: number;
};

export type NodeDeviceLookupScsiHostByWwnRet = {
  dev: NodeDevice;
};

export type DomainGetJobStatsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetJobStatsRet = {
  type: number;
  params: TypedParam[];
};

export type DomainMigrateGetCompressionCacheArgs = {
  dom: Domain;
  flags: number;
};

export type DomainMigrateGetCompressionCacheRet = {
  cacheSize: bigint;
};

export type DomainMigrateSetCompressionCacheArgs = {
  dom: Domain;
  cacheSize: bigint;
  flags: number;
};

export type NodeDeviceDetachFlagsArgs = {
  name: string;
  driverName: string | null;
  flags: number;
};

export type DomainMigrateBegin3ParamsArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type DomainMigrateBegin3ParamsRet = {
  cookieOut: Buffer;
  xml: string;
};

export type DomainMigratePrepare3ParamsArgs = {
  params: TypedParam[];
  cookieIn: Buffer;
  flags: number;
};

export type DomainMigratePrepare3ParamsRet = {
  cookieOut: Buffer;
  uriOut: string | null;
};

export type DomainMigratePrepareTunnel3ParamsArgs = {
  params: TypedParam[];
  cookieIn: Buffer;
  flags: number;
};

export type DomainMigratePrepareTunnel3ParamsRet = {
  cookieOut: Buffer;
};

export type DomainMigratePerform3ParamsArgs = {
  dom: Domain;
  dconnuri: string | null;
  params: TypedParam[];
  cookieIn: Buffer;
  flags: number;
};

export type DomainMigratePerform3ParamsRet = {
  cookieOut: Buffer;
};

export type DomainMigrateFinish3ParamsArgs = {
  params: TypedParam[];
  cookieIn: Buffer;
  flags: number;
  cancelled: number;
};

export type DomainMigrateFinish3ParamsRet = {
  dom: Domain;
  cookieOut: Buffer;
};

export type DomainMigrateConfirm3ParamsArgs = {
  dom: Domain;
  params: TypedParam[];
  cookieIn: Buffer;
  flags: number;
  cancelled: number;
};

export type DomainSetMemoryStatsPeriodArgs = {
  dom: Domain;
  period: number;
  flags: number;
};

export type DomainCreateXmlWithFilesArgs = {
  xmlDesc: string;
  flags: number;
};

export type DomainCreateXmlWithFilesRet = {
  dom: Domain;
};

export type DomainCreateWithFilesArgs = {
  dom: Domain;
  flags: number;
};

export type DomainCreateWithFilesRet = {
  dom: Domain;
};

export type ConnectGetCpuModelNamesArgs = {
  arch: string;
  needResults: number;
  flags: number;
};

export type ConnectGetCpuModelNamesRet = {
  models: string[];
  ret: number;
};

export type ConnectNetworkEventRegisterAnyArgs = {
  eventId: number;
  net: Network | null;
};

export type ConnectNetworkEventRegisterAnyRet = {
  callbackId: number;
};

export type ConnectNetworkEventDeregisterAnyArgs = {
  callbackId: number;
};

export type ConnectDomainEventCallbackRegisterAnyArgs = {
  eventId: number;
  dom: Domain | null;
};

export type ConnectDomainEventCallbackRegisterAnyRet = {
  callbackId: number;
};

export type ConnectDomainEventCallbackDeregisterAnyArgs = {
  callbackId: number;
};

export type DomainCoreDumpWithFormatArgs = {
  dom: Domain;
  to: string;
  dumpformat: number;
  flags: number;
};

export type DomainFsfreezeArgs = {
  dom: Domain;
  mountpoints: string[];
  flags: number;
};

export type DomainFsfreezeRet = {
  filesystems: number;
};

export type DomainFsthawArgs = {
  dom: Domain;
  mountpoints: string[];
  flags: number;
};

export type DomainFsthawRet = {
  filesystems: number;
};

export type DomainGetTimeArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetTimeRet = {
  seconds: bigint;
  nseconds: number;
};

export type DomainSetTimeArgs = {
  dom: Domain;
  seconds: bigint;
  nseconds: number;
  flags: number;
};

export type NodeGetFreePagesArgs = {
  pages: number[];
  startCell: number;
  cellCount: number;
  flags: number;
};

export type NodeGetFreePagesRet = {
  counts: bigint[];
};

export type NetworkGetDhcpLeasesArgs = {
  net: Network;
  mac: string | null;
  needResults: number;
  flags: number;
};

export type NetworkDhcpLease = {
  iface: string;
  expirytime: bigint;
  type: number;
  mac: string | null;
  iaid: string | null;
  ipaddr: string;
  prefix: number;
  hostname: string | null;
  clientid: string | null;
};

export type NetworkGetDhcpLeasesRet = {
  leases: NetworkDhcpLease[];
  ret: number;
};

export type ConnectGetDomainCapabilitiesArgs = {
  emulatorbin: string | null;
  arch: string | null;
  machine: string | null;
  virttype: string | null;
  flags: number;
};

export type ConnectGetDomainCapabilitiesRet = {
  capabilities: string;
};

export type DomainOpenGraphicsFdArgs = {
  dom: Domain;
  idx: number;
  flags: number;
};

export type ConnectGetAllDomainStatsArgs = {
  doms: Domain[];
  stats: number;
  flags: number;
};

export type DomainStatsRecord = {
  dom: Domain;
  params: TypedParam[];
};

export type ConnectGetAllDomainStatsRet = {
  retStats: DomainStatsRecord[];
};

export type DomainBlockCopyArgs = {
  dom: Domain;
  path: string;
  destxml: string;
  params: TypedParam[];
  flags: number;
};

export type NodeAllocPagesArgs = {
  pageSizes: number[];
  pageCounts: bigint[];
  startCell: number;
  cellCount: number;
  flags: number;
};

export type NodeAllocPagesRet = {
  ret: number;
};

export type DomainGetFsinfoArgs = {
  dom: Domain;
  flags: number;
};

export type DomainFsinfo = {
  mountpoint: string;
  name: string;
  fstype: string;
  devAliases: string[];
};

export type DomainGetFsinfoRet = {
  info: DomainFsinfo[];
  ret: number;
};

export type DomainDefineXmlFlagsArgs = {
  xml: string;
  flags: number;
};

export type DomainDefineXmlFlagsRet = {
  dom: Domain;
};

export type DomainGetIothreadInfoArgs = {
  dom: Domain;
  flags: number;
};

export type DomainIothreadInfo = {
  iothreadId: number;
  cpumap: Buffer;
};

export type DomainGetIothreadInfoRet = {
  info: DomainIothreadInfo[];
  ret: number;
};

export type DomainPinIothreadArgs = {
  dom: Domain;
  iothreadsId: number;
  cpumap: Buffer;
  flags: number;
};

export type DomainInterfaceAddressesArgs = {
  dom: Domain;
  source: number;
  flags: number;
};

export type DomainIpAddr = {
  type: number;
  addr: string;
  prefix: number;
};

export type DomainInterface = {
  name: string;
  hwaddr: string | null;
  addrs: DomainIpAddr[];
};

export type DomainInterfaceAddressesRet = {
  ifaces: DomainInterface[];
};

export type DomainAddIothreadArgs = {
  dom: Domain;
  iothreadId: number;
  flags: number;
};

export type DomainDelIothreadArgs = {
  dom: Domain;
  iothreadId: number;
  flags: number;
};

export type DomainSetUserPasswordArgs = {
  dom: Domain;
  user: string | null;
  password: string | null;
  flags: number;
};

export type DomainRenameArgs = {
  dom: Domain;
  newName: string | null;
  flags: number;
};

export type DomainRenameRet = {
  retcode: number;
};

export type DomainMigrateStartPostCopyArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetPerfEventsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetPerfEventsRet = {
  params: TypedParam[];
};

export type DomainSetPerfEventsArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type ConnectStoragePoolEventRegisterAnyArgs = {
  eventId: number;
  pool: StoragePool | null;
};

export type ConnectStoragePoolEventRegisterAnyRet = {
  callbackId: number;
};

export type ConnectStoragePoolEventDeregisterAnyArgs = {
  callbackId: number;
};

export type DomainGetGuestVcpusArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetGuestVcpusRet = {
  params: TypedParam[];
};

export type DomainSetGuestVcpusArgs = {
  dom: Domain;
  cpumap: string;
  state: number;
  flags: number;
};

export type ConnectNodeDeviceEventRegisterAnyArgs = {
  eventId: number;
  dev: NodeDevice | null;
};

export type ConnectNodeDeviceEventRegisterAnyRet = {
  callbackId: number;
};

export type ConnectNodeDeviceEventDeregisterAnyArgs = {
  callbackId: number;
};

export type StorageVolGetInfoFlagsArgs = {
  vol: StorageVol;
  flags: number;
};

export type StorageVolGetInfoFlagsRet = {
  type: number;
  capacity: bigint;
  allocation: bigint;
};

export type ConnectSecretEventRegisterAnyArgs = {
  eventId: number;
  secret: Secret | null;
};

export type ConnectSecretEventRegisterAnyRet = {
  callbackId: number;
};

export type ConnectSecretEventDeregisterAnyArgs = {
  callbackId: number;
};

export type DomainSetVcpuArgs = {
  dom: Domain;
  cpumap: string;
  state: number;
  flags: number;
};

export type DomainSetBlockThresholdArgs = {
  dom: Domain;
  dev: string;
  threshold: bigint;
  flags: number;
};

export type DomainMigrateGetMaxDowntimeArgs = {
  dom: Domain;
  flags: number;
};

export type DomainMigrateGetMaxDowntimeRet = {
  downtime: bigint;
};

export type DomainManagedSaveGetXmlDescArgs = {
  dom: Domain;
  flags: number;
};

export type DomainManagedSaveGetXmlDescRet = {
  xml: string;
};

export type DomainManagedSaveDefineXmlArgs = {
  dom: Domain;
  dxml: string | null;
  flags: number;
};

export type DomainSetLifecycleActionArgs = {
  dom: Domain;
  type: number;
  action: number;
  flags: number;
};

export type StoragePoolLookupByTargetPathArgs = {
  path: string;
};

export type StoragePoolLookupByTargetPathRet = {
  pool: StoragePool;
};

export type DomainDetachDeviceAliasArgs = {
  dom: Domain;
  alias: string;
  flags: number;
};

export type ConnectCompareHypervisorCpuArgs = {
  emulator: string | null;
  arch: string | null;
  machine: string | null;
  virttype: string | null;
  xmlCPU: string;
  flags: number;
};

export type ConnectCompareHypervisorCpuRet = {
  result: number;
};

export type ConnectBaselineHypervisorCpuArgs = {
  emulator: string | null;
  arch: string | null;
  machine: string | null;
  virttype: string | null;
  xmlCPUs: string[];
  flags: number;
};

export type ConnectBaselineHypervisorCpuRet = {
  cpu: string;
};

export type NodeGetSevInfoArgs = {
  nparams: number;
  flags: number;
};

export type NodeGetSevInfoRet = {
  params: TypedParam[];
  nparams: number;
};

export type DomainGetLaunchSecurityInfoArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetLaunchSecurityInfoRet = {
  params: TypedParam[];
};

export type NwfilterBindingLookupByPortDevArgs = {
  name: string;
};

export type NwfilterBinding = {
  portdev: string;
  filtername: string;
};

export type NwfilterBindingLookupByPortDevRet = {
  nwfilter: NwfilterBinding;
};

export type NwfilterBindingGetXmlDescArgs = {
  nwfilter: NwfilterBinding;
  flags: number;
};

export type NwfilterBindingGetXmlDescRet = {
  xml: string;
};

export type NwfilterBindingCreateXmlArgs = {
  xml: string;
  flags: number;
};

export type NwfilterBindingCreateXmlRet = {
  nwfilter: NwfilterBinding;
};

export type NwfilterBindingDeleteArgs = {
  nwfilter: NwfilterBinding;
};

export type ConnectListAllNwfilterBindingsArgs = {
  needResults: number;
  flags: number;
};

export type ConnectListAllNwfilterBindingsRet = {
  bindings: NwfilterBinding[];
  ret: number;
};

export type DomainSetIothreadParamsArgs = {
  dom: Domain;
  iothreadId: number;
  params: TypedParam[];
  flags: number;
};

export type ConnectGetStoragePoolCapabilitiesArgs = {
  flags: number;
};

export type ConnectGetStoragePoolCapabilitiesRet = {
  capabilities: string;
};

export type NetworkListAllPortsArgs = {
  network: Network;
  needResults: number;
  flags: number;
};

export type NetworkPort = {
  net: Network;
  uuid: Buffer;
};

export type NetworkListAllPortsRet = {
  ports: NetworkPort[];
  ret: number;
};

export type NetworkPortLookupByUuidArgs = {
  network: Network;
  uuid: Buffer;
};

export type NetworkPortLookupByUuidRet = {
  port: NetworkPort;
};

export type NetworkPortCreateXmlArgs = {
  network: Network;
  xml: string;
  flags: number;
};

export type NetworkPortCreateXmlRet = {
  port: NetworkPort;
};

export type NetworkPortGetParametersArgs = {
  port: NetworkPort;
  nparams: number;
  flags: number;
};

export type NetworkPortGetParametersRet = {
  params: TypedParam[];
  nparams: number;
};

export type NetworkPortSetParametersArgs = {
  port: NetworkPort;
  params: TypedParam[];
  flags: number;
};

export type NetworkPortGetXmlDescArgs = {
  port: NetworkPort;
  flags: number;
};

export type NetworkPortGetXmlDescRet = {
  xml: string;
};

export type NetworkPortDeleteArgs = {
  port: NetworkPort;
  flags: number;
};

export type DomainCheckpointCreateXmlArgs = {
  dom: Domain;
  xmlDesc: string;
  flags: number;
};

export type DomainCheckpoint = {
  name: string;
  dom: Domain;
};

export type DomainCheckpointCreateXmlRet = {
  checkpoint: DomainCheckpoint;
};

export type DomainCheckpointGetXmlDescArgs = {
  checkpoint: DomainCheckpoint;
  flags: number;
};

export type DomainCheckpointGetXmlDescRet = {
  xml: string;
};

export type DomainListAllCheckpointsArgs = {
  dom: Domain;
  needResults: number;
  flags: number;
};

export type DomainListAllCheckpointsRet = {
  checkpoints: DomainCheckpoint[];
  ret: number;
};

export type DomainCheckpointListAllChildrenArgs = {
  checkpoint: DomainCheckpoint;
  needResults: number;
  flags: number;
};

export type DomainCheckpointListAllChildrenRet = {
  checkpoints: DomainCheckpoint[];
  ret: number;
};

export type DomainCheckpointLookupByNameArgs = {
  dom: Domain;
  name: string;
  flags: number;
};

export type DomainCheckpointLookupByNameRet = {
  checkpoint: DomainCheckpoint;
};

export type DomainCheckpointGetParentArgs = {
  checkpoint: DomainCheckpoint;
  flags: number;
};

export type DomainCheckpointGetParentRet = {
  parent: DomainCheckpoint;
};

export type DomainCheckpointDeleteArgs = {
  checkpoint: DomainCheckpoint;
  flags: number;
};

export type DomainGetGuestInfoArgs = {
  dom: Domain;
  types: number;
  flags: number;
};

export type DomainGetGuestInfoRet = {
  params: TypedParam[];
};

export type ConnectSetIdentityArgs = {
  params: TypedParam[];
  flags: number;
};

export type DomainAgentSetResponseTimeoutArgs = {
  dom: Domain;
  timeout: number;
  flags: number;
};

export type DomainAgentSetResponseTimeoutRet = {
  result: number;
};

export type DomainBackupBeginArgs = {
  dom: Domain;
  backupXml: string;
  checkpointXml: string | null;
  flags: number;
};

export type DomainBackupGetXmlDescArgs = {
  dom: Domain;
  flags: number;
};

export type DomainBackupGetXmlDescRet = {
  xml: string;
};

export type DomainAuthorizedSshKeysGetArgs = {
  dom: Domain;
  user: string;
  flags: number;
};

export type DomainAuthorizedSshKeysGetRet = {
  keys: string[];
};

export type DomainAuthorizedSshKeysSetArgs = {
  dom: Domain;
  user: string;
  keys: string[];
  flags: number;
};

export type DomainGetMessagesArgs = {
  dom: Domain;
  flags: number;
};

export type DomainGetMessagesRet = {
  msgs: string[];
};

export type DomainStartDirtyRateCalcArgs = {
  dom: Domain;
  seconds: number;
  flags: number;
};

export type NodeDeviceDefineXmlArgs = {
  xmlDesc: string;
  flags: number;
};

export type NodeDeviceDefineXmlRet = {
  dev: NodeDevice;
};

export type NodeDeviceUndefineArgs = {
  name: string;
  flags: number;
};

export type NodeDeviceCreateArgs = {
  name: string;
  flags: number;
};

export type NwfilterDefineXmlFlagsArgs = {
  xml: string;
  flags: number;
};

export type NwfilterDefineXmlFlagsRet = {
  nwfilter: Nwfilter;
};

export type NetworkDefineXmlFlagsArgs = {
  xml: string;
  flags: number;
};

export type NetworkDefineXmlFlagsRet = {
  net: Network;
};

export type NodeDeviceGetAutostartArgs = {
  name: string;
};

export type NodeDeviceGetAutostartRet = {
  autostart: number;
};

export type NodeDeviceSetAutostartArgs = {
  name: string;
  autostart: number;
};

export type NodeDeviceIsPersistentArgs = {
  name: string;
};

export type NodeDeviceIsPersistentRet = {
  persistent: number;
};

export type NodeDeviceIsActiveArgs = {
  name: string;
};

export type NodeDeviceIsActiveRet = {
  active: number;
};

export type NetworkCreateXmlFlagsArgs = {
  xml: string;
  flags: number;
};

export type NetworkCreateXmlFlagsRet = {
  net: Network;
};

export type DomainSetLaunchSecurityStateArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type DomainSaveParamsArgs = {
  dom: Domain;
  params: TypedParam[];
  flags: number;
};

export type DomainRestoreParamsArgs = {
  params: TypedParam[];
  flags: number;
};

export type DomainAbortJobFlagsArgs = {
  dom: Domain;
  flags: number;
};

export type DomainFdAssociateArgs = {
  dom: Domain;
  name: string;
  flags: number;
};

export type QemuDomainMonitorCommandArgs = {
  dom: Domain;
  cmd: string;
  flags: number;
};

export type QemuDomainMonitorCommandRet = {
  result: string;
};

export type QemuDomainAttachArgs = {
  pidValue: number;
  flags: number;
};

export type QemuDomainAttachRet = {
  dom: Domain;
};

export type QemuDomainAgentCommandArgs = {
  dom: Domain;
  cmd: string;
  timeout: number;
  flags: number;
};

export type QemuDomainAgentCommandRet = {
  result: string | null;
};

export type QemuConnectDomainMonitorEventRegisterArgs = {
  dom: Domain | null;
  event: string | null;
  flags: number;
};

export type QemuConnectDomainMonitorEventRegisterRet = {
  callbackId: number;
};

export type QemuConnectDomainMonitorEventDeregisterArgs = {
  callbackId: number;
};

export type QemuDomainMonitorCommandWithFilesArgs = {
  dom: Domain;
  cmd: string;
  flags: number;
};

export type QemuDomainMonitorCommandWithFilesRet = {
  result: string;
};

export type DomainEventLifecycleMsg = {
  dom: Domain;
  event: number;
  detail: number;
};

export type DomainEventRebootMsg = {
  dom: Domain;
};

export type DomainEventRtcChangeMsg = {
  dom: Domain;
  offset: bigint;
};

export type DomainEventWatchdogMsg = {
  dom: Domain;
  action: number;
};

export type DomainEventIoErrorMsg = {
  dom: Domain;
  srcPath: string;
  devAlias: string;
  action: number;
};

export type DomainEventGraphicsAddress = {
  family: number;
  node: string;
  service: string;
};

export type DomainEventGraphicsIdentity = {
  type: string;
  name: string;
};

export type DomainEventGraphicsMsg = {
  dom: Domain;
  phase: number;
  local: DomainEventGraphicsAddress;
  remote: DomainEventGraphicsAddress;
  authScheme: string;
  subject: DomainEventGraphicsIdentity[];
};

export type DomainEventIoErrorReasonMsg = {
  dom: Domain;
  srcPath: string;
  devAlias: string;
  action: number;
  reason: string;
};

export type DomainEventControlErrorMsg = {
  dom: Domain;
};

export type DomainEventBlockJobMsg = {
  dom: Domain;
  path: string;
  type: number;
  status: number;
};

export type DomainEventDiskChangeMsg = {
  dom: Domain;
  oldSrcPath: string | null;
  newSrcPath: string | null;
  devAlias: string;
  reason: number;
};

export type DomainEventTrayChangeMsg = {
  dom: Domain;
  devAlias: string;
  reason: number;
};

export type DomainEventPmwakeupMsg = {
  dom: Domain;
};

export type DomainEventPmsuspendMsg = {
  dom: Domain;
};

export type DomainEventBalloonChangeMsg = {
  dom: Domain;
  actual: bigint;
};

export type DomainEventPmsuspendDiskMsg = {
  dom: Domain;
};

export type DomainEventDeviceRemovedMsg = {
  dom: Domain;
  devAlias: string;
};

export type NetworkEventLifecycleMsg = {
  callbackId: number;
  net: Network;
  event: number;
  detail: number;
};

export type DomainEventCallbackLifecycleMsg = {
  callbackId: number;
  msg: DomainEventLifecycleMsg;
};

export type DomainEventCallbackRebootMsg = {
  callbackId: number;
  msg: DomainEventRebootMsg;
};

export type DomainEventCallbackRtcChangeMsg = {
  callbackId: number;
  msg: DomainEventRtcChangeMsg;
};

export type DomainEventCallbackWatchdogMsg = {
  callbackId: number;
  msg: DomainEventWatchdogMsg;
};

export type DomainEventCallbackIoErrorMsg = {
  callbackId: number;
  msg: DomainEventIoErrorMsg;
};

export type DomainEventCallbackGraphicsMsg = {
  callbackId: number;
  msg: DomainEventGraphicsMsg;
};

export type DomainEventCallbackIoErrorReasonMsg = {
  callbackId: number;
  msg: DomainEventIoErrorReasonMsg;
};

export type DomainEventCallbackControlErrorMsg = {
  callbackId: number;
  msg: DomainEventControlErrorMsg;
};

export type DomainEventCallbackBlockJobMsg = {
  callbackId: number;
  msg: DomainEventBlockJobMsg;
};

export type DomainEventCallbackDiskChangeMsg = {
  callbackId: number;
  msg: DomainEventDiskChangeMsg;
};

export type DomainEventCallbackTrayChangeMsg = {
  callbackId: number;
  msg: DomainEventTrayChangeMsg;
};

export type DomainEventCallbackPmwakeupMsg = {
  callbackId: number;
  reason: number;
  msg: DomainEventPmwakeupMsg;
};

export type DomainEventCallbackPmsuspendMsg = {
  callbackId: number;
  reason: number;
  msg: DomainEventPmsuspendMsg;
};

export type DomainEventCallbackBalloonChangeMsg = {
  callbackId: number;
  msg: DomainEventBalloonChangeMsg;
};

export type DomainEventCallbackPmsuspendDiskMsg = {
  callbackId: number;
  reason: number;
  msg: DomainEventPmsuspendDiskMsg;
};

export type DomainEventCallbackDeviceRemovedMsg = {
  callbackId: number;
  msg: DomainEventDeviceRemovedMsg;
};

export type DomainEventBlockJob2Msg = {
  callbackId: number;
  dom: Domain;
  dst: string;
  type: number;
  status: number;
};

export type DomainEventCallbackTunableMsg = {
  callbackId: number;
  dom: Domain;
  params: TypedParam[];
};

export type DomainEventCallbackAgentLifecycleMsg = {
  callbackId: number;
  dom: Domain;
  state: number;
  reason: number;
};

export type DomainEventCallbackDeviceAddedMsg = {
  callbackId: number;
  dom: Domain;
  devAlias: string;
};

export type DomainEventCallbackMigrationIterationMsg = {
  callbackId: number;
  dom: Domain;
  iteration: number;
};

export type ConnectEventConnectionClosedMsg = {
  reason: number;
};

export type DomainEventCallbackJobCompletedMsg = {
  callbackId: number;
  dom: Domain;
  params: TypedParam[];
};

export type DomainEventCallbackDeviceRemovalFailedMsg = {
  callbackId: number;
  dom: Domain;
  devAlias: string;
};

export type StoragePoolEventLifecycleMsg = {
  callbackId: number;
  pool: StoragePool;
  event: number;
  detail: number;
};

export type StoragePoolEventRefreshMsg = {
  callbackId: number;
  pool: StoragePool;
};

export type NodeDeviceEventLifecycleMsg = {
  callbackId: number;
  dev: NodeDevice;
  event: number;
  detail: number;
};

export type NodeDeviceEventUpdateMsg = {
  callbackId: number;
  dev: NodeDevice;
};

export type DomainEventCallbackMetadataChangeMsg = {
  callbackId: number;
  dom: Domain;
  type: number;
  nsuri: string | null;
};

export type SecretEventLifecycleMsg = {
  callbackId: number;
  secret: Secret;
  event: number;
  detail: number;
};

export type SecretEventValueChangedMsg = {
  callbackId: number;
  secret: Secret;
};

export type DomainEventBlockThresholdMsg = {
  callbackId: number;
  dom: Domain;
  dev: string;
  path: string | null;
  threshold: bigint;
  excess: bigint;
};

export type DomainEventMemoryFailureMsg = {
  callbackId: number;
  dom: Domain;
  recipient: number;
  action: number;
  flags: number;
};

export type DomainEventMemoryDeviceSizeChangeMsg = {
  callbackId: number;
  dom: Domain;
  alias: string;
  size: bigint;
};

export type QemuDomainMonitorEventMsg = {
  callbackId: number;
  dom: Domain;
  event: string;
  seconds: bigint;
  micros: number;
  details: string | null;
};

export type NetMessageDomain = {
  name: string;
  uuid: Buffer;
  id: number;
};

export type NetMessageNetwork = {
  name: string;
  uuid: Buffer;
};

export type NetMessageError = {
  code: number;
  domain: number;
  message: string | null;
  level: number;
  dom: NetMessageDomain | null;
  str1: string | null;
  str2: string | null;
  str3: string | null;
  int1: number;
  int2: number;
  net: NetMessageNetwork | null;
};

export type NetStreamHole = {
  length: bigint;
  flags: number;
};
