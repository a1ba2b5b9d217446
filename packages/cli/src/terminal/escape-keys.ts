const LEAVE = 0x2e; // .
const ESCAPE = 0x7e; // ~
const LINE_ENDS = [0x0d, 0x0a];

/** What is typed on a terminal in raw mode: bytes for the other end, or the wish to leave. */
export type Typed = { send: Uint8Array; leave: boolean };

/**
 * Finds the keys that leave a session: `~` and `.` at the beginning of a line, as in ssh. All other keys,
 * also Ctrl-C, are for the other end. `~~` sends one `~`.
 */
export function escapeKeys(): (chunk: Uint8Array) => Typed {
  let isLineStart = true;
  let isEscaped = false;
  return (chunk) => {
    const send: number[] = [];
    for (const byte of chunk) {
      if (isEscaped && byte === LEAVE) return { send: Uint8Array.from(send), leave: true };
      if (isLineStart && !isEscaped && byte === ESCAPE) {
        isEscaped = true;
        continue;
      }
      if (isEscaped && byte !== ESCAPE) send.push(ESCAPE);
      send.push(byte);
      isEscaped = false;
      isLineStart = LINE_ENDS.includes(byte);
    }
    return { send: Uint8Array.from(send), leave: false };
  };
}
