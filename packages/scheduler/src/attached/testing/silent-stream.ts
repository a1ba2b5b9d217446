import type { HostStream } from '../../fleet/host-stream.ts';

/** A stream of an agent that takes pieces, on which nothing is sent unless the test replaces a function. */
export function silentStream(hostId: string, replaced: Partial<HostStream> = {}): HostStream {
  return {
    hostId,
    certificateSerial: '',
    takesPieces: true,
    send() {},
    sendConsoles: () => true,
    sendEncoded() {},
    abort() {},
    ...replaced,
  };
}
