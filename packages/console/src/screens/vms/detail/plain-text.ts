// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what is removed
/** Escape sequences of terminals: those with parameters, those that set a title, and short ones. */
const SEQUENCES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** The text that a guest printed, without colours, movements of the cursor and other control characters. */
export function plainText(printed: string): string {
  return printed.replaceAll(SEQUENCES, '').replaceAll('\r\n', '\n').replaceAll(CONTROLS, '');
}
