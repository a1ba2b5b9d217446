/** Renders JSON data as YAML. Text that could be read as another type is quoted. */
export function renderYaml(value: unknown): string {
  return `${block(value, 0).trimStart()}\n`;
}

function block(value: unknown, depth: number): string {
  const indent = '  '.repeat(depth);
  if (Array.isArray(value) && value.length > 0)
    return value.map((item) => `\n${indent}-${nested(item, depth + 1)}`).join('');
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `\n${indent}${scalar(key)}:${block(member, depth + 1)}`)
      .join('');
  return ` ${flow(value)}`;
}

/** The first line of a list's item stands beside the dash. */
function nested(item: unknown, depth: number): string {
  return ` ${block(item, depth).trimStart()}`;
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  if (isObject(value)) return '{}';
  return typeof value === 'string' ? scalar(value) : String(value);
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_/.@+-]*(?: [A-Za-z0-9_/.@+-]+)*$/;
/** Readers of YAML 1.1 take these words for booleans or null. */
const WORDS = /^(?:true|false|yes|no|on|off|y|n|null)$/i;

/** JSON's quoted strings are YAML's too. */
function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : JSON.stringify(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
