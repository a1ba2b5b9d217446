import { netMessageErrorCodec } from './generated/codecs.ts';
import { XdrDecoder } from './xdr/xdr.ts';

/** The codes of virErrorNumber in libvirt's virterror.h that callers need. */
export const LIBVIRT_ERROR = {
  internal: 1,
  noSupport: 3,
  invalidArgument: 8,
  operationFailed: 9,
  xml: 27,
  domainExists: 28,
  operationDenied: 29,
  xmlDetail: 35,
  system: 38,
  rpc: 39,
  noDomain: 42,
  noNetwork: 43,
  authFailed: 45,
  noStoragePool: 49,
  noStorageVol: 50,
  noNodeDevice: 53,
  operationInvalid: 55,
  noSecret: 66,
  configUnsupported: 67,
  operationTimeout: 68,
  argumentUnsupported: 74,
  operationAborted: 78,
  noDomainMetadata: 80,
  operationUnsupported: 84,
  agentUnresponsive: 86,
  resourceBusy: 87,
  accessDenied: 88,
  storageVolExists: 90,
  xmlInvalidSchema: 92,
  agentUnsynced: 97,
  deviceMissing: 99,
  noDomainBackup: 104,
} as const;

/** An error that libvirt reports: the call failed. Use only `code` to distinguish errors. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError';
  /** A code of LIBVIRT_ERROR, or another number. */
  readonly code: number;
  /** virErrorDomain: the part of libvirt that reported it. */
  readonly domain: number;
  /** virErrorLevel: 1 warning, 2 error. */
  readonly level: number;

  constructor(fields: { code: number; domain: number; level: number; message: string }) {
    super(fields.message);
    this.code = fields.code;
    this.domain = fields.domain;
    this.level = fields.level;
  }
}

/** Whether libvirt failed the call with one of these codes. */
export function isLibvirtError(error: unknown, ...codes: number[]): error is LibvirtError {
  return error instanceof LibvirtError && codes.includes(error.code);
}

/** The peer violated the protocol. The connection cannot be used any more. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The connection has ended. It is unknown whether a waiting call took effect. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
}

/** No reply within the time limit. It is unknown whether the call takes effect. */
export class CallTimeoutError extends Error {
  override readonly name = 'CallTimeoutError';
}

/** Reads the error in a reply or in a stream packet. */
export function decodeLibvirtError(bytes: Buffer): LibvirtError {
  const body = new XdrDecoder(bytes);
  const { code, domain, level, message } = netMessageErrorCodec.read(body);
  body.end();
  return new LibvirtError({ code, domain, level, message: message ?? `libvirt error ${code}` });
}
