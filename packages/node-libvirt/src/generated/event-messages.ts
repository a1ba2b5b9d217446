// Written by scripts/generate.ts from libvirt's protocol definitions. Do not edit.

import type { EventMessage } from '../procedure.ts';
import * as codecs from './codecs.ts';
import { QEMU_PROGRAM, REMOTE_PROGRAM } from './constants.ts';
import type * as types from './types.ts';

export const domainEventLifecycle: EventMessage<types.DomainEventLifecycleMsg> = {
  name: 'DOMAIN_EVENT_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 107,
  message: codecs.domainEventLifecycleMsgCodec,
};

export const domainEventReboot: EventMessage<types.DomainEventRebootMsg> = {
  name: 'DOMAIN_EVENT_REBOOT',
  program: REMOTE_PROGRAM,
  number: 169,
  message: codecs.domainEventRebootMsgCodec,
};

export const domainEventRtcChange: EventMessage<types.DomainEventRtcChangeMsg> = {
  name: 'DOMAIN_EVENT_RTC_CHANGE',
  program: REMOTE_PROGRAM,
  number: 170,
  message: codecs.domainEventRtcChangeMsgCodec,
};

export const domainEventWatchdog: EventMessage<types.DomainEventWatchdogMsg> = {
  name: 'DOMAIN_EVENT_WATCHDOG',
  program: REMOTE_PROGRAM,
  number: 171,
  message: codecs.domainEventWatchdogMsgCodec,
};

export const domainEventIoError: EventMessage<types.DomainEventIoErrorMsg> = {
  name: 'DOMAIN_EVENT_IO_ERROR',
  program: REMOTE_PROGRAM,
  number: 172,
  message: codecs.domainEventIoErrorMsgCodec,
};

export const domainEventGraphics: EventMessage<types.DomainEventGraphicsMsg> = {
  name: 'DOMAIN_EVENT_GRAPHICS',
  program: REMOTE_PROGRAM,
  number: 173,
  message: codecs.domainEventGraphicsMsgCodec,
};

export const domainEventIoErrorReason: EventMessage<types.DomainEventIoErrorReasonMsg> = {
  name: 'DOMAIN_EVENT_IO_ERROR_REASON',
  program: REMOTE_PROGRAM,
  number: 195,
  message: codecs.domainEventIoErrorReasonMsgCodec,
};

export const domainEventControlError: EventMessage<types.DomainEventControlErrorMsg> = {
  name: 'DOMAIN_EVENT_CONTROL_ERROR',
  program: REMOTE_PROGRAM,
  number: 224,
  message: codecs.domainEventControlErrorMsgCodec,
};

export const domainEventBlockJob: EventMessage<types.DomainEventBlockJobMsg> = {
  name: 'DOMAIN_EVENT_BLOCK_JOB',
  program: REMOTE_PROGRAM,
  number: 241,
  message: codecs.domainEventBlockJobMsgCodec,
};

export const domainEventDiskChange: EventMessage<types.DomainEventDiskChangeMsg> = {
  name: 'DOMAIN_EVENT_DISK_CHANGE',
  program: REMOTE_PROGRAM,
  number: 248,
  message: codecs.domainEventDiskChangeMsgCodec,
};

export const domainEventTrayChange: EventMessage<types.DomainEventTrayChangeMsg> = {
  name: 'DOMAIN_EVENT_TRAY_CHANGE',
  program: REMOTE_PROGRAM,
  number: 268,
  message: codecs.domainEventTrayChangeMsgCodec,
};

export const domainEventPmwakeup: EventMessage<types.DomainEventPmwakeupMsg> = {
  name: 'DOMAIN_EVENT_PMWAKEUP',
  program: REMOTE_PROGRAM,
  number: 269,
  message: codecs.domainEventPmwakeupMsgCodec,
};

export const domainEventPmsuspend: EventMessage<types.DomainEventPmsuspendMsg> = {
  name: 'DOMAIN_EVENT_PMSUSPEND',
  program: REMOTE_PROGRAM,
  number: 270,
  message: codecs.domainEventPmsuspendMsgCodec,
};

export const domainEventBalloonChange: EventMessage<types.DomainEventBalloonChangeMsg> = {
  name: 'DOMAIN_EVENT_BALLOON_CHANGE',
  program: REMOTE_PROGRAM,
  number: 276,
  message: codecs.domainEventBalloonChangeMsgCodec,
};

export const domainEventPmsuspendDisk: EventMessage<types.DomainEventPmsuspendDiskMsg> = {
  name: 'DOMAIN_EVENT_PMSUSPEND_DISK',
  program: REMOTE_PROGRAM,
  number: 292,
  message: codecs.domainEventPmsuspendDiskMsgCodec,
};

export const domainEventDeviceRemoved: EventMessage<types.DomainEventDeviceRemovedMsg> = {
  name: 'DOMAIN_EVENT_DEVICE_REMOVED',
  program: REMOTE_PROGRAM,
  number: 311,
  message: codecs.domainEventDeviceRemovedMsgCodec,
};

export const networkEventLifecycle: EventMessage<types.NetworkEventLifecycleMsg> = {
  name: 'NETWORK_EVENT_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 315,
  message: codecs.networkEventLifecycleMsgCodec,
};

export const domainEventCallbackLifecycle: EventMessage<types.DomainEventCallbackLifecycleMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 318,
  message: codecs.domainEventCallbackLifecycleMsgCodec,
};

export const domainEventCallbackReboot: EventMessage<types.DomainEventCallbackRebootMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_REBOOT',
  program: REMOTE_PROGRAM,
  number: 319,
  message: codecs.domainEventCallbackRebootMsgCodec,
};

export const domainEventCallbackRtcChange: EventMessage<types.DomainEventCallbackRtcChangeMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_RTC_CHANGE',
  program: REMOTE_PROGRAM,
  number: 320,
  message: codecs.domainEventCallbackRtcChangeMsgCodec,
};

export const domainEventCallbackWatchdog: EventMessage<types.DomainEventCallbackWatchdogMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_WATCHDOG',
  program: REMOTE_PROGRAM,
  number: 321,
  message: codecs.domainEventCallbackWatchdogMsgCodec,
};

export const domainEventCallbackIoError: EventMessage<types.DomainEventCallbackIoErrorMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_IO_ERROR',
  program: REMOTE_PROGRAM,
  number: 322,
  message: codecs.domainEventCallbackIoErrorMsgCodec,
};

export const domainEventCallbackGraphics: EventMessage<types.DomainEventCallbackGraphicsMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_GRAPHICS',
  program: REMOTE_PROGRAM,
  number: 323,
  message: codecs.domainEventCallbackGraphicsMsgCodec,
};

export const domainEventCallbackIoErrorReason: EventMessage<types.DomainEventCallbackIoErrorReasonMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_IO_ERROR_REASON',
  program: REMOTE_PROGRAM,
  number: 324,
  message: codecs.domainEventCallbackIoErrorReasonMsgCodec,
};

export const domainEventCallbackControlError: EventMessage<types.DomainEventCallbackControlErrorMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_CONTROL_ERROR',
  program: REMOTE_PROGRAM,
  number: 325,
  message: codecs.domainEventCallbackControlErrorMsgCodec,
};

export const domainEventCallbackBlockJob: EventMessage<types.DomainEventCallbackBlockJobMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_BLOCK_JOB',
  program: REMOTE_PROGRAM,
  number: 326,
  message: codecs.domainEventCallbackBlockJobMsgCodec,
};

export const domainEventCallbackDiskChange: EventMessage<types.DomainEventCallbackDiskChangeMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_DISK_CHANGE',
  program: REMOTE_PROGRAM,
  number: 327,
  message: codecs.domainEventCallbackDiskChangeMsgCodec,
};

export const domainEventCallbackTrayChange: EventMessage<types.DomainEventCallbackTrayChangeMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_TRAY_CHANGE',
  program: REMOTE_PROGRAM,
  number: 328,
  message: codecs.domainEventCallbackTrayChangeMsgCodec,
};

export const domainEventCallbackPmwakeup: EventMessage<types.DomainEventCallbackPmwakeupMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_PMWAKEUP',
  program: REMOTE_PROGRAM,
  number: 329,
  message: codecs.domainEventCallbackPmwakeupMsgCodec,
};

export const domainEventCallbackPmsuspend: EventMessage<types.DomainEventCallbackPmsuspendMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_PMSUSPEND',
  program: REMOTE_PROGRAM,
  number: 330,
  message: codecs.domainEventCallbackPmsuspendMsgCodec,
};

export const domainEventCallbackBalloonChange: EventMessage<types.DomainEventCallbackBalloonChangeMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_BALLOON_CHANGE',
  program: REMOTE_PROGRAM,
  number: 331,
  message: codecs.domainEventCallbackBalloonChangeMsgCodec,
};

export const domainEventCallbackPmsuspendDisk: EventMessage<types.DomainEventCallbackPmsuspendDiskMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_PMSUSPEND_DISK',
  program: REMOTE_PROGRAM,
  number: 332,
  message: codecs.domainEventCallbackPmsuspendDiskMsgCodec,
};

export const domainEventCallbackDeviceRemoved: EventMessage<types.DomainEventCallbackDeviceRemovedMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_DEVICE_REMOVED',
  program: REMOTE_PROGRAM,
  number: 333,
  message: codecs.domainEventCallbackDeviceRemovedMsgCodec,
};

export const domainEventBlockJob2: EventMessage<types.DomainEventBlockJob2Msg> = {
  name: 'DOMAIN_EVENT_BLOCK_JOB_2',
  program: REMOTE_PROGRAM,
  number: 339,
  message: codecs.domainEventBlockJob2MsgCodec,
};

export const domainEventCallbackTunable: EventMessage<types.DomainEventCallbackTunableMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_TUNABLE',
  program: REMOTE_PROGRAM,
  number: 346,
  message: codecs.domainEventCallbackTunableMsgCodec,
};

export const domainEventCallbackAgentLifecycle: EventMessage<types.DomainEventCallbackAgentLifecycleMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_AGENT_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 348,
  message: codecs.domainEventCallbackAgentLifecycleMsgCodec,
};

export const domainEventCallbackDeviceAdded: EventMessage<types.DomainEventCallbackDeviceAddedMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_DEVICE_ADDED',
  program: REMOTE_PROGRAM,
  number: 354,
  message: codecs.domainEventCallbackDeviceAddedMsgCodec,
};

export const domainEventCallbackMigrationIteration: EventMessage<types.DomainEventCallbackMigrationIterationMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_MIGRATION_ITERATION',
  program: REMOTE_PROGRAM,
  number: 359,
  message: codecs.domainEventCallbackMigrationIterationMsgCodec,
};

export const connectEventConnectionClosed: EventMessage<types.ConnectEventConnectionClosedMsg> = {
  name: 'CONNECT_EVENT_CONNECTION_CLOSED',
  program: REMOTE_PROGRAM,
  number: 362,
  message: codecs.connectEventConnectionClosedMsgCodec,
};

export const domainEventCallbackJobCompleted: EventMessage<types.DomainEventCallbackJobCompletedMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_JOB_COMPLETED',
  program: REMOTE_PROGRAM,
  number: 363,
  message: codecs.domainEventCallbackJobCompletedMsgCodec,
};

export const domainEventCallbackDeviceRemovalFailed: EventMessage<types.DomainEventCallbackDeviceRemovalFailedMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_DEVICE_REMOVAL_FAILED',
  program: REMOTE_PROGRAM,
  number: 367,
  message: codecs.domainEventCallbackDeviceRemovalFailedMsgCodec,
};

export const storagePoolEventLifecycle: EventMessage<types.StoragePoolEventLifecycleMsg> = {
  name: 'STORAGE_POOL_EVENT_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 370,
  message: codecs.storagePoolEventLifecycleMsgCodec,
};

export const storagePoolEventRefresh: EventMessage<types.StoragePoolEventRefreshMsg> = {
  name: 'STORAGE_POOL_EVENT_REFRESH',
  program: REMOTE_PROGRAM,
  number: 373,
  message: codecs.storagePoolEventRefreshMsgCodec,
};

export const nodeDeviceEventLifecycle: EventMessage<types.NodeDeviceEventLifecycleMsg> = {
  name: 'NODE_DEVICE_EVENT_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 376,
  message: codecs.nodeDeviceEventLifecycleMsgCodec,
};

export const nodeDeviceEventUpdate: EventMessage<types.NodeDeviceEventUpdateMsg> = {
  name: 'NODE_DEVICE_EVENT_UPDATE',
  program: REMOTE_PROGRAM,
  number: 377,
  message: codecs.nodeDeviceEventUpdateMsgCodec,
};

export const domainEventCallbackMetadataChange: EventMessage<types.DomainEventCallbackMetadataChangeMsg> = {
  name: 'DOMAIN_EVENT_CALLBACK_METADATA_CHANGE',
  program: REMOTE_PROGRAM,
  number: 379,
  message: codecs.domainEventCallbackMetadataChangeMsgCodec,
};

export const secretEventLifecycle: EventMessage<types.SecretEventLifecycleMsg> = {
  name: 'SECRET_EVENT_LIFECYCLE',
  program: REMOTE_PROGRAM,
  number: 382,
  message: codecs.secretEventLifecycleMsgCodec,
};

export const secretEventValueChanged: EventMessage<types.SecretEventValueChangedMsg> = {
  name: 'SECRET_EVENT_VALUE_CHANGED',
  program: REMOTE_PROGRAM,
  number: 383,
  message: codecs.secretEventValueChangedMsgCodec,
};

export const domainEventBlockThreshold: EventMessage<types.DomainEventBlockThresholdMsg> = {
  name: 'DOMAIN_EVENT_BLOCK_THRESHOLD',
  program: REMOTE_PROGRAM,
  number: 385,
  message: codecs.domainEventBlockThresholdMsgCodec,
};

export const domainEventMemoryFailure: EventMessage<types.DomainEventMemoryFailureMsg> = {
  name: 'DOMAIN_EVENT_MEMORY_FAILURE',
  program: REMOTE_PROGRAM,
  number: 423,
  message: codecs.domainEventMemoryFailureMsgCodec,
};

export const domainEventMemoryDeviceSizeChange: EventMessage<types.DomainEventMemoryDeviceSizeChangeMsg> = {
  name: 'DOMAIN_EVENT_MEMORY_DEVICE_SIZE_CHANGE',
  program: REMOTE_PROGRAM,
  number: 438,
  message: codecs.domainEventMemoryDeviceSizeChangeMsgCodec,
};

export const qemuDomainMonitorEvent: EventMessage<types.QemuDomainMonitorEventMsg> = {
  name: 'DOMAIN_MONITOR_EVENT',
  program: QEMU_PROGRAM,
  number: 6,
  message: codecs.qemuDomainMonitorEventMsgCodec,
};
