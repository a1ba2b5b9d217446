import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { HostFailure } from './failure.ts';
import type { XmlElement } from './xml.ts';

/** No domain is this long: libvirt's replies are limited to 4 MiB. */
const LIMIT_CHARACTERS = 4 * 1_024 * 1_024;

/** Entities are off: a document can only use the five predefined entities of XML, decoded below. */
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
});

type Node = Record<string, unknown>;
const ATTRIBUTES = ':@';
const TEXT = '#text';

/**
 * Returns the root element. Throws a HostFailure `xml_unreadable` for invalid XML and for XML with
 * a DOCTYPE.
 */
export function parseXml(text: string): XmlElement {
  if (text.length > LIMIT_CHARACTERS) throw unreadable('it is too long');
  if (text.includes('<!DOCTYPE')) throw unreadable('it has a DOCTYPE');
  let nodes: Node[];
  try {
    const validity = XMLValidator.validate(text);
    if (validity !== true) throw new Error(validity.err.msg);
    nodes = parser.parse(text) as Node[];
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error), error);
  }
  const root = nodes.find((node) => !(TEXT in node));
  if (root === undefined) throw unreadable('it has no element');
  return toElement(root);
}

export function childrenNamed(parent: XmlElement | undefined, name: string): XmlElement[] {
  return parent?.children.filter((child) => child.name === name) ?? [];
}

/** Follows the first child with each name. */
export function descend(root: XmlElement, ...names: string[]): XmlElement | undefined {
  let found: XmlElement | undefined = root;
  for (const name of names) found = found?.children.find((child) => child.name === name);
  return found;
}

function toElement(node: Node): XmlElement {
  const name = Object.keys(node).find((key) => key !== ATTRIBUTES) ?? '';
  const content = (node[name] ?? []) as Node[];
  const attributes = (node[ATTRIBUTES] ?? {}) as Record<string, unknown>;
  return {
    name,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key, decode(String(value))]),
    ),
    children: content.filter((child) => !(TEXT in child)).map(toElement),
    text: decode(content.map((child) => String(child[TEXT] ?? '')).join('')),
  };
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', apos: "'", quot: '"' };

/** Leaves an unknown entity as it is. */
function decode(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function unreadable(reason: string, cause?: unknown): HostFailure {
  return new HostFailure('xml_unreadable', `cannot read XML of libvirt: ${reason}`, { cause });
}
