const MAX_LENGTH = 63;
/** The end of the id, because ids of hosts that join at the same time begin alike. */
const SHORT_ID_LENGTH = 8;

/** Returns candidate names for a new host in order of preference. Its own hostname comes first. */
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
