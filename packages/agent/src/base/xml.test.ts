import { describe, expect, it } from 'vitest';
import { parseXml } from './parse-xml.ts';
import { element, renderXml } from './xml.ts';

describe('renderXml', () => {
  it('escapes everything in attributes and text, and parsing returns the original', () => {
    const nasty = `<a b='c' d="e">&amp; ]]> --> &#x41; ${'\u{1f980}'} %s $& `;
    const written = renderXml(element('root', { name: nasty }, [element('text', {}, nasty)]));
    const root = parseXml(written);
    expect(root.attributes['name']).toBe(nasty);
    expect(root.children[0]?.text).toBe(nasty);
    expect(written.match(/<[a-z]/g)).toHaveLength(2);
  });

  it.each(['\u0000', '\n', '\t', '\u001b[31m', '\u007f', '\u0085', '\u2028', '\uffff', '\ud800'])(
    'refuses text that XML or a log line cannot hold: %j',
    (character) => {
      const withText = element('root', {}, `a${character}b`);
      const withAttribute = element('root', { name: `a${character}b` });
      const refusal = expect.objectContaining({ code: 'unprintable_text' });
      expect(() => renderXml(withText)).toThrow(refusal);
      expect(() => renderXml(withAttribute)).toThrow(refusal);
    },
  );

  it('omits null children and closes empty elements', () => {
    expect(renderXml(element('a', {}, [null, element('b')]))).toBe('<a>\n  <b/>\n</a>\n');
  });
});

describe('parseXml', () => {
  it.each([
    ['nothing', ''],
    ['no XML', 'error: no such domain'],
    ['an end that is missing', '<domain><name>a</name>'],
    ['ends in the wrong order', '<a><b></a></b>'],
    ['an entity of its own', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'],
    ['a file of the host', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    ['a name that would change every object', '<a><__proto__ x="1"/></a>'],
    ['more than any domain', `<a>${' '.repeat(5_000_000)}</a>`],
    ['more levels than any domain', '<a>'.repeat(50_000) + '</a>'.repeat(50_000)],
  ])('throws the same kind of failure for %s', (_name, text) => {
    expect(() => parseXml(text)).toThrow(expect.objectContaining({ code: 'xml_unreadable' }));
  });

  it('reads what libvirt writes: a declaration, double quotes, comments, numeric references', () => {
    const text = `<?xml version="1.0"?>\n<!-- edited with virsh -->\n<a b="1&#10;2">x&#x26;&lt;</a>`;
    expect(parseXml(text)).toMatchObject({ name: 'a', attributes: { b: '1\n2' }, text: 'x&<' });
  });
});
