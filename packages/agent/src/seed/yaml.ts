/**
 * Renders YAML that a value cannot break out of: JSON is YAML, and characters that YAML readers do
 * not accept inside quotes (controls, line separators, byte order marks) are escaped as in JSON.
 */
export function renderYaml(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NOT_TEXT = ['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'];

/**
 * Written without quotes if YAML then reads exactly this text, for guests that parse lines with
 * sed.
 */
export function renderPlainText(text: string): string {
  const isText = /^[a-z][a-z0-9-]*$/.test(text) && !NOT_TEXT.includes(text);
  return isText || UUID.test(text) ? text : renderYaml(text);
}
