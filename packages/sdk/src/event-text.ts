/** An event as it arrived. Heartbeats have an id and no data. */
export type ReceivedEvent = { id: string | undefined; type: string; data: string | undefined };

/**
 * Parses server-sent events from chunks of text, which may end anywhere. An event ends with an empty
 * line: what the connection cut off is dropped, because the server sends it again.
 */
export function eventParser(): (chunk: string) => ReceivedEvent[] {
  let buffered = '';
  return (chunk) => {
    // A carriage return at the end may be the first half of a line end.
    const text = buffered + chunk;
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const blocks = whole.replaceAll(/\r\n|\r/g, '\n').split('\n\n');
    buffered = (blocks.pop() ?? '') + text.slice(whole.length);
    return blocks.map(parseBlock);
  };
}

function parseBlock(block: string): ReceivedEvent {
  const event: ReceivedEvent = { id: undefined, type: 'message', data: undefined };
  for (const line of block.split('\n')) {
    // A line that begins with a colon is a comment.
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'id') event.id = value;
    if (field === 'event') event.type = value;
    if (field === 'data') event.data = event.data === undefined ? value : `${event.data}\n${value}`;
  }
  return event;
}
