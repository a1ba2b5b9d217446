import type { XdrDecoder } from './xdr.ts';

/** An error libvirt reports: the call was understood and failed. Told apart by `code` alone. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError';
  /** virErrorNumber of libvirt's virterror.h: 42 is "no such domain". */
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

/** The peer does not speak the protocol as we know it. The connection cannot be used any further. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The connection is gone. Whether a call that was waiting took effect is not known. */
export class ConnectionClosedError extends Error {
  override readonly name = 'ConnectionClosedError';
}

const UUID_BYTES = 16;

/** Reads virNetMessageError, the body of every failed reply. */
export function decodeLibvirtError(body: XdrDecoder): LibvirtError {
  const code = body.int();
  const domain = body.int();
  const message = body.optional((decoder) => decoder.string());
  const level = body.int();
  skipUnusedFields(body);
  body.end();
  return new LibvirtError({ code, domain, level, message: message ?? `libvirt error ${code}` });
}

/** Kept by libvirt for old clients: a domain, three strings, two numbers, a network. */
function skipUnusedFields(body: XdrDecoder): void {
  body.optional((decoder) => {
    decoder.string();
    decoder.fixedOpaque(UUID_BYTES);
    decoder.int();
  });
  for (let count = 0; count < 3; count += 1) body.optional((decoder) => decoder.string());
  body.int();
  body.int();
  body.optional((decoder) => {
    decoder.string();
    decoder.fixedOpaque(UUID_BYTES);
  });
}
