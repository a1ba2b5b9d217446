const MAX_LENGTH = 63;
/** The end of an id: its beginning is the time, which hosts that join together share. */
const SHORT_ID_LENGTH = 8;

/** What a new host may be called, the best first: by its own name, if nobody has it yet. */
export function hostNames(hostname: string, hostId: string): string[] {
  const name = cleanName(hostname);
  if (name === '') return [hostId];
  const shortId = hostId.slice(-SHORT_ID_LENGTH);
  return [name, `${trim(name.slice(0, MAX_LENGTH - SHORT_ID_LENGTH - 1))}-${shortId}`, hostId];
}

function cleanName(hostname: string): string {
  const plain = hostname.slice(0, 4 * MAX_LENGTH).toLowerCase();
  return trim(trim(plain.replace(/[^a-z0-9.-]+/g, '-')).slice(0, MAX_LENGTH));
}

const trim = (name: string) => name.replace(/^[-.]+|[-.]+$/g, '');
