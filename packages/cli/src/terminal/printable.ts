// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what is replaced
/**
 * Replaces control characters, so that text of other people cannot move the cursor or change the
 * terminal.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}

/** The same for text of several lines. Escape sequences are removed as a whole. */
export function printableLines(text: string): string {
  const escapes =
    /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
  const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
  return text.replaceAll(escapes, '').replaceAll('\r\n', '\n').replaceAll(controls, '');
}
