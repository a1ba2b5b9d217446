import { XMLParser } from 'fast-xml-parser';

/** A reply: the name of its root, its texts by name, and its lists of elements by name. */
export type XmlReply = {
  root: string;
  fields: Record<string, string>;
  lists: Record<string, Record<string, string>[]>;
};

const LISTS = new Set(['Contents', 'Upload']);
/** Entities of a DOCTYPE are never expanded: a reply with one is refused below. */
const parser = new XMLParser({
  parseTagValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  isArray: (name) => LISTS.has(name),
});

/** Reads a reply of S3. A body that is none, such as the page of a proxy, has no root and no fields. */
export function readXml(body: string): XmlReply {
  const empty: XmlReply = { root: '', fields: {}, lists: {} };
  if (!body.trimStart().startsWith('<') || body.includes('<!')) return empty;
  const [[root, content] = ['', undefined]] = Object.entries(parse(body));
  if (typeof content !== 'object' || content === null) return { ...empty, root };
  const found: XmlReply = { ...empty, root };
  for (const [name, value] of Object.entries(content)) {
    if (Array.isArray(value)) found.lists[name] = value.map(textsOf);
    else if (typeof value === 'string') found.fields[name] = value;
  }
  return found;
}

function parse(body: string): object {
  try {
    return parser.parse(body) as object;
  } catch {
    return {};
  }
}

function textsOf(element: unknown): Record<string, string> {
  if (typeof element !== 'object' || element === null) return {};
  return Object.fromEntries(
    Object.entries(element).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
