/**
 * Keeps secrets out of logs: fields with secret names, and secrets in free text, such as a driver's
 * error message that quotes a connection URL.
 */
const SECRETS: [pattern: RegExp, replacement: string][] = [
  [/gantry_(ak|rt|jt|bl|ct)_[A-Za-z0-9_-]+/g, 'gantry_$1_[redacted]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[redacted token]'],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]+):[^\s@/]+@/gi, '$1:[redacted]@'],
  [/\b(bearer)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  [/\b(sk|rk|whsec)_(live|test)?_?[A-Za-z0-9]{8,}/g, '[redacted key]'],
];

const SECRET_FIELDS = new Set([
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
]);

export function redactText(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  return clean;
}

/** Returns the fields with the values of secret names redacted, at every depth. */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  let clean = fields;
  for (const key in fields) {
    const value = fields[key];
    const safe = SECRET_FIELDS.has(key)
      ? '[redacted]'
      : isPlainObject(value)
        ? redactFields(value)
        : value;
    if (safe === value) continue;
    if (clean === fields) clean = { ...fields };
    clean[key] = safe;
  }
  return clean;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
