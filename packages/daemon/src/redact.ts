/**
 * Secrets never reach a log. Fields with telling names are cut by the logger; this catches the ones
 * that slip into free text, such as a driver's error message that quotes a connection URL.
 */
const SECRETS: [pattern: RegExp, replacement: string][] = [
  [/gantry_(ak|rt|jt|bl)_[A-Za-z0-9_-]+/g, 'gantry_$1_[redacted]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[redacted token]'],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]+):[^\s@/]+@/gi, '$1:[redacted]@'],
  [/\b(bearer)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  [/\b(sk|rk|whsec)_(live|test)?_?[A-Za-z0-9]{8,}/g, '[redacted key]'],
];

export const SECRET_FIELDS = [
  'authorization',
  'password',
  'access_key',
  'access_token',
  'refresh_token',
  'secret',
  'accessKey',
  'accessToken',
  'refreshToken',
  'databaseUrl',
  'secretKey',
];

export function redactText(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  return clean;
}
