// Written by scripts/generate.ts from libvirt's protocol definitions. Do not edit.

export const NET_MESSAGE_INITIAL = 65536;
export const NET_MESSAGE_LEGACY_PAYLOAD_MAX = 262120;
export const NET_MESSAGE_MAX = 33554432;
export const NET_MESSAGE_HEADER_MAX = 24;
export const NET_MESSAGE_PAYLOAD_MAX = 33554408;
export const NET_MESSAGE_LEN_MAX = 4;
export const NET_MESSAGE_STRING_MAX = 4194304;
export const NET_MESSAGE_NUM_FDS_MAX = 32;
export const NET_MESSAGE_HEADER_XDR_LEN = 4;
export const KEEPALIVE_PROGRAM = 1801807216;
export const KEEPALIVE_PROTOCOL_VERSION = 1;
export const REMOTE_PROGRAM = 536903814;
export const REMOTE_PROTOCOL_VERSION = 1;
export const QEMU_PROGRAM = 536903815;
export const QEMU_PROTOCOL_VERSION = 1;

export const NET_MESSAGE_TYPE = {
  call: 0,
  reply: 1,
  message: 2,
  stream: 3,
  callWithFds: 4,
  replyWithFds: 5,
  streamHole: 6,
} as const;

export const NET_MESSAGE_STATUS = {
  ok: 0,
  error: 1,
  continue: 2,
} as const;

export const KEEPALIVE_PROCEDURE = {
  ping: 1,
  pong: 2,
} as const;

export const AUTH_TYPE = {
  none: 0,
  sasl: 1,
  polkit: 2,
} as const;
