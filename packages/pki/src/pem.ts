export function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Returns the bytes of the block with one of these labels, or undefined if there is none. */
export function fromPem(labels: readonly string[], pem: string): Buffer | undefined {
  const match = /^\s*-----BEGIN ([A-Z0-9 ]+)-----\s([A-Za-z0-9+/=\s]+)-----END \1-----\s*$/.exec(
    pem,
  );
  if (!match?.[1] || !match[2] || !labels.includes(match[1])) return undefined;
  return Buffer.from(match[2], 'base64');
}
