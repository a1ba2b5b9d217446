import { HostFailure } from './failure.ts';

/** An XML element. It has children or text, never both. */
export type XmlElement = {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly XmlElement[];
  text: string;
};

type Attributes = Record<string, string | number>;
type Content = string | readonly (XmlElement | null)[];

/** A null child is omitted. */
export function element(
  name: string,
  attributes: Attributes = {},
  content: Content = [],
): XmlElement {
  const isText = typeof content === 'string';
  return {
    name,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key, String(value)]),
    ),
    children: isText ? [] : content.filter((child) => child !== null),
    text: isText ? content : '',
  };
}

/** Renders XML with two spaces of indentation per level, because operators read it too. */
export function renderXml(root: XmlElement, indent = ''): string {
  const attributes = Object.entries(root.attributes)
    .map(([key, value]) => ` ${key}='${escapeXml(value)}'`)
    .join('');
  const open = `${indent}<${root.name}${attributes}`;
  if (root.text !== '') return `${open}>${escapeXml(root.text)}</${root.name}>\n`;
  if (root.children.length === 0) return `${open}/>\n`;
  const children = root.children.map((child) => renderXml(child, `${indent}  `)).join('');
  return `${open}>\n${children}${indent}</${root.name}>\n`;
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&apos;',
  '"': '&quot;',
};

/**
 * XML cannot represent most of these characters, and a line break in a name or a path is an error.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/;

function escapeXml(text: string): string {
  if (UNPRINTABLE.test(text) || !text.isWellFormed()) {
    throw new HostFailure(
      'unprintable_text',
      `${JSON.stringify(text)} contains a control character; remove it`,
    );
  }
  return text.replace(/[&<>'"]/g, (character) => ESCAPES[character] ?? character);
}
