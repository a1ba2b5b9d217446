import type { Codec } from './xdr/codec.ts';

/** A procedure of one of libvirt's programs: its arguments and its result. */
export type Procedure<Args, Ret> = {
  /** The name in libvirt's source, for error messages. */
  name: string;
  program: number;
  number: number;
  args: Codec<Args>;
  ret: Codec<Ret>;
};

/** A call whose reply opens a stream under the same serial number. */
export type StreamProcedure<Args, Ret> = Procedure<Args, Ret> & { stream: true };

/** A message that the daemon sends by itself after a callback was registered. */
export type EventMessage<Message> = {
  name: string;
  program: number;
  number: number;
  message: Pick<Codec<Message>, 'read'>;
};
