import { netMessageErrorCodec } from './generated/codecs.ts';
import { XdrDecoder } from './xdr.ts';

/** virErrorNumber of libvirt's virterror.h, the part callers tell apart. */
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
} as const;

/** An error libvirt reports: the call was understood and failed. Told apart by `code` alone. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError';
  /** One of LIBVIRT_ERROR, or one that nobody needed to name yet. */
  readonly code: number;
  /** virErrorDomain: the part of libvirt it comes from. */
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

/** The peer does not speak the protocol as we know it. The connection cannot be used any further. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The connection is gone. Whether a call that was waiting took effect is not known. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
}

/** No reply within the call's limit. Whether the call takes effect after all is not known. */
export class CallTimeoutError extends Error {
  override readonly name = 'CallTimeoutError';
}

/** Reads the body of a failed reply or of a stream's failure. */
export function decodeLibvirtError(bytes: Buffer): LibvirtError {
  const body = new XdrDecoder(bytes);
  const { code, domain, level, message } = netMessageErrorCodec.read(body);
  body.end();
  return new LibvirtError({ code, domain, level, message: message ?? `libvirt error ${code}` });
}
