import type { Codec } from './codec.ts';

/** One call of one of libvirt's programs: what goes out and what comes back. */
export type Procedure<Args, Ret> = {
  /** As in libvirt's source, for messages. */
  name: string;
  program: number;
  number: number;
  args: Codec<Args>;
  ret: Codec<Ret>;
};

/** A call whose reply opens a stream under the same serial number. */
export type StreamProcedure<Args, Ret> = Procedure<Args, Ret> & { stream: true };

/** What the daemon says unasked, once a callback was registered. */
export type EventMessage<Message> = {
  name: string;
  program: number;
  number: number;
  message: Pick<Codec<Message>, 'read'>;
};
