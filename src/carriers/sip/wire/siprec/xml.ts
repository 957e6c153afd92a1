/**
 * As much of XML 1.0 as metadata of recordings need: elements, attributes and text, with limits. There are no document
 * type definitions and no entities but the five of XML itself, so that nothing can grow or refer to anything outside.
 * Names lose their prefix: vendors choose any, and several names of the namespace itself are in use.
 */
import { TrunklineError } from '../../../../foundation/errors.ts';

/** Metadata of a call have 2 to 8 kB. */
export const XML_MAX_CHARS = 65_536;
const DEPTH_MAX = 16;
const ELEMENTS_MAX = 2048;
const ATTRIBUTES_MAX = 32;
const NAME_MAX_CHARS = 256;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** An element. Names are without prefixes, otherwise as they were written. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Its own text, that of its children left out, without white space at both ends. */
  readonly text: string;
}

interface OpenElement {
  readonly qualified: string;
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  text: string;
}

/**
 * Reads a document and returns its root.
 * @throws TrunklineError `message_malformed`, `message_too_large`
 */
export function parseXml(text: string): XmlElement {
  if (text.length > XML_MAX_CHARS) throw tooLarge(`${text.length} characters`, XML_MAX_CHARS);
  return new XmlReader(text).read();
}

class XmlReader {
  readonly #text: string;
  readonly #open: OpenElement[] = [];
  #root: XmlElement | null = null;
  #elements = 0;

  constructor(text: string) {
    this.#text = text.replace(/^\uFEFF/, '');
  }

  read(): XmlElement {
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf('<', at);
      this.#addText(text.slice(at, next < 0 ? text.length : next));
      if (next < 0) break;
      at = this.#readMarkup(next);
    }
    if (this.#open.length > 0) throw malformed('an element that is not closed', 'its end');
    if (this.#root === null) throw malformed('no element', 'one');
    return this.#root;
  }

  /** What begins with `<` at `at`; returns where it ends. */
  #readMarkup(at: number): number {
    const text = this.#text;
    if (text.startsWith('<?', at)) return this.#endOf('?>', at + 2);
    if (text.startsWith('<!--', at)) return this.#endOf('-->', at + 4);
    if (text.startsWith('<![CDATA[', at)) {
      const end = this.#endOf(']]>', at + 9);
      this.#addCharacters(text.slice(at + 9, end - 3));
      return end;
    }
    if (text.startsWith('<!', at)) throw malformed('a document type', 'none');
    if (text.startsWith('</', at)) {
      const end = this.#endOf('>', at + 2);
      this.#close(text.slice(at + 2, end - 1).trimEnd());
      return end;
    }
    return this.#readStart(at + 1);
  }

  #endOf(mark: string, from: number): number {
    const end = this.#text.indexOf(mark, from);
    if (end < 0) throw malformed('markup that does not end', mark);
    return end + mark.length;
  }

  #readStart(from: number): number {
    const name = matchAt(NAME, this.#text, from);
    if (name === null) throw malformed('a < without a name', 'an element');
    let at = from + name.length;
    const attributes = new Map<string, string>();
    for (let tries = 0; tries <= ATTRIBUTES_MAX; tries++) {
      const [, empty] = matchOf(END_OF_TAG, this.#text, at) ?? [];
      if (empty !== undefined) {
        this.#begin(name, attributes);
        if (empty === '/') this.#close(name);
        return END_OF_TAG.lastIndex;
      }
      const [, own = '', double, single = ''] = matchOf(ATTRIBUTE, this.#text, at) ?? [];
      if (own === '') throw malformed('an attribute of another form', 'name="value"');
      attributes.set(localOf(own), decode(double ?? single));
      at = ATTRIBUTE.lastIndex;
    }
    throw tooLarge('more attributes', ATTRIBUTES_MAX);
  }

  #begin(qualified: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#root !== null) throw malformed('a second root', 'one');
    if (this.#open.length >= DEPTH_MAX) throw tooLarge('elements deeper in each other', DEPTH_MAX);
    this.#elements++;
    if (this.#elements > ELEMENTS_MAX) throw tooLarge('more elements', ELEMENTS_MAX);
    this.#open.push({ qualified, name: localOf(qualified), attributes, children: [], text: '' });
  }

  #close(qualified: string): void {
    const element = this.#open.pop();
    if (element?.qualified !== qualified)
      throw malformed('the end of an element that is not open', 'the innermost one');
    const { name, attributes, children, text } = element;
    const closed = { name, attributes, children, text: text.trim() };
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#root = closed;
    else parent.children.push(closed);
  }

  #addText(text: string): void {
    if (text !== '') this.#addCharacters(text.includes('&') ? decode(text) : text);
  }

  #addCharacters(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined) element.text += text;
    else if (text.trim() !== '') throw malformed('text outside of the root', 'none');
  }
}

const NAME = /[\p{L}_:][\p{L}\p{N}_:.-]{0,255}/uy;
const END_OF_TAG = /\s*(\/?)>/y;
const ATTRIBUTE = /\s+([\p{L}_:][\p{L}\p{N}_:.-]{0,255})\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/uy;

function matchOf(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  return matchOf(pattern, text, at)?.[0] ?? null;
}

function localOf(qualified: string): string {
  return qualified.slice(qualified.lastIndexOf(':') + 1).slice(0, NAME_MAX_CHARS);
}

/** What is no entity of XML's own stays as it is: names with a bare `&` are in use. */
function decode(text: string): string {
  return text.replace(/&([^;&\s]{1,12});/g, (whole, name: string) => ENTITIES.get(name) ?? characterOf(name) ?? whole);
}

function characterOf(name: string): string | null {
  const [, hexadecimal, decimal] = /^#(?:x([\da-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? [];
  const code = hexadecimal === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hexadecimal, 16);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : null;
}

/** Names what is wrong without showing it: names and numbers of people stand in metadata. */
function malformed(what: string, expected: string): TrunklineError {
  return new TrunklineError('message_malformed', `XML: got ${what}, expected ${expected}`);
}

function tooLarge(what: string, most: number): TrunklineError {
  return new TrunklineError('message_too_large', `XML: got ${what}, expected at most ${most}`);
}
