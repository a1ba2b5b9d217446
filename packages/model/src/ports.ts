const PORT = /^(0|[1-9][0-9]{0,4})$/;

/** Parses "22", "3000-8080" or "*" to an inclusive range. Returns undefined for anything else. */
export function parsePorts(text: string): { first: number; last: number } | undefined {
  if (text === '*') return { first: 0, last: 65_535 };
  const [from = '', to = from, ...rest] = text.split('-');
  if (rest.length > 0 || !PORT.test(from) || !PORT.test(to)) return undefined;
  const range = { first: Number(from), last: Number(to) };
  const fits = range.first >= 1 && range.first <= range.last && range.last <= 65_535;
  return fits ? range : undefined;
}
