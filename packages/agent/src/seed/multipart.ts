/** A part of a message. No line of its text may begin with the boundary. */
type Part = { type: string; name: string; text: string };

const BOUNDARY = 'gantry-part';

/** Renders texts of different types as one MIME message, which cloud-init takes apart again. */
export function renderMultipart(parts: readonly Part[]): string {
  const rendered = parts.map(({ type, name, text }) =>
    [
      `--${BOUNDARY}`,
      `Content-Type: ${type}; charset="utf-8"`,
      `Content-Disposition: attachment; filename="${name}"`,
      '',
      text,
    ].join('\n'),
  );
  const head = `Content-Type: multipart/mixed; boundary="${BOUNDARY}"\nMIME-Version: 1.0\n\n`;
  return `${head}${rendered.join('')}--${BOUNDARY}--\n`;
}
