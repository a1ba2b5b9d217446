/** Escapes text for troff. A line that begins with a dot or a quote would be a request. */
export function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1');
}

export const bold = (text: string) => `\\fB${escapeRoff(text)}\\fR`;
export const italic = (text: string) => `\\fI${escapeRoff(text)}\\fR`;

/** A term and its explanation. */
export function item(term: string, ...lines: readonly string[]): string {
  return ['.TP', term, ...lines].join('\n');
}

export function section(title: string, ...lines: readonly string[]): string {
  return [`.SH ${title}`, ...lines].join('\n');
}
