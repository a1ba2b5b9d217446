/**
 * YAML that nothing in a value can break out of: JSON is YAML, and what YAML's readers do not take
 * inside of quotes (controls, their line separators, byte order marks) is escaped as JSON allows.
 */
export function renderYaml(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NOT_TEXT = ['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'];

/** Without quotes where YAML then reads this very text: for guests that read lines with sed. */
export function renderPlainText(text: string): string {
  const isText = /^[a-z][a-z0-9-]*$/.test(text) && !NOT_TEXT.includes(text);
  return isText || UUID.test(text) ? text : renderYaml(text);
}
