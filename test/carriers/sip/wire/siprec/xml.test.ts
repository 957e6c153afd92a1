import { describe, expect, it } from 'vitest';
import { parseXml, XML_MAX_CHARS } from '../../../../../src/carriers/sip/wire/siprec/xml.ts';
import { TrunklineError } from '../../../../../src/foundation/errors.ts';

const codeOf = (text: string): string | null => {
  try {
    parseXml(text);
    return null;
  } catch (error) {
    if (error instanceof TrunklineError) return error.code;
    throw error;
  }
};

describe('XML', () => {
  it('gives elements with attributes and text, without prefixes', () => {
    const text = `\uFEFF<?xml version="1.0"?><!-- <a> --><t:a xmlns:t = 'urn:x' t:k="1" z='"'>
      one <b/><t:c >two</t:c > <![CDATA[<three> &amp;]]></t:a>\n<!-- end -->`;
    expect(parseXml(text)).toMatchObject({ name: 'a', children: [{ name: 'b' }, { name: 'c', text: 'two' }] });
    expect(parseXml(text).text.replace(/\s+/g, ' ')).toBe('one <three> &amp;');
    expect([...parseXml(text).attributes]).toEqual([
      ['t', 'urn:x'],
      ['k', '1'],
      ['z', '"'],
    ]);
  });

  it('knows the five entities and characters by number, and leaves others as they are', () => {
    expect(
      parseXml('<a k="&lt;&#252;">&amp;&lt;&gt;&quot;&apos;&#65;&#x42;&#xd800;&#0; A & B &b; &constructor;</a>'),
    ).toEqual({
      name: 'a',
      attributes: new Map([['k', '<ü']]),
      children: [],
      text: '&<>"\'AB&#xd800;&#0; A & B &b; &constructor;',
    });
  });

  it('is read where it is not written quite right', () => {
    const text = '\r\n<?xml encoding="x"?><a>A & B <![CDATA[C & D]]> E &AMP; F\u0001&#X41;</a>';
    expect(parseXml(text).text).toBe('A & B C & D E &AMP; F A');
    expect(codeOf(`<a>${'&'.repeat(XML_MAX_CHARS - 7)}</a>`)).toBe(null);
  });

  it.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['a declaration inside', '<a><!ENTITY b "c"></a>'],
    ['nothing', '   '],
    ['text alone', 'a'],
    ['text behind it', '<a/>b'],
    ['two roots', '<a/><b/>'],
    ['an element that is not closed', '<a><b></b>'],
    ['elements that overlap', '<a><b></a></b>'],
    ['an end too many', '<a></a></a>'],
    ['another prefix at the end', '<t:a></u:a>'],
    ['a tag that does not end', '<a k="1"'],
    ['an attribute without a value', '<a k></a>'],
    ['an attribute without quotation marks', '<a k=1></a>'],
    ['a comment that does not end', '<a><!-- </a>'],
    ['a section that does not end', '<a><![CDATA[ </a>'],
    ['a name that is none', '<1a/>'],
  ])('is refused: %s', (_, text) => {
    expect(codeOf(text)).toBe('message_malformed');
  });

  it('has limits, up to which it is read', () => {
    const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
    const many = (count: number) => `<a>${'<b/>'.repeat(count)}</a>`;
    const attributes = (count: number) => `<a ${Array.from({ length: count }, (__, i) => `k${i}="1"`).join(' ')}/>`;
    const long = (chars: number) => `<a>${'x'.repeat(chars - 7)}</a>`;
    const cases = [
      [nested, 16],
      [many, 2047],
      [attributes, 32],
      [long, XML_MAX_CHARS],
    ] as const;
    for (const [make, most] of cases)
      expect([codeOf(make(most)), codeOf(make(most + 1))]).toEqual([null, 'message_too_large']);
  });
});
