/**
 * XML 1.0 as small documents of strangers have it: read whole into a tree, within bounds, and written again. Entities
 * are the five of the standard and references to characters; what a DTD declares is never looked at, so nothing grows
 * and nothing is fetched.
 */
import { SaxesParser } from 'saxes';

/**
 * An element. Names are as written; text between its children is among them, comments and processing instructions are
 * not.
 */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (XmlElement | string)[];
}

/** Bounds of one document. */
export interface XmlLimits {
  readonly maxChars: number;
  readonly maxDepth: number;
  readonly maxElements: number;
}

/** A document that cannot be read. `message` repeats nothing of it but a place in it. */
export class XmlError extends Error {
  /** It is beyond a limit; else it is no XML. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

/**
 * The root element of a document.
 * @throws XmlError when it is no well-formed XML or beyond `limits`
 */
export function readXml(text: string, limits: XmlLimits): XmlElement {
  if (text.length > limits.maxChars)
    throw new XmlError(`it has ${text.length} characters, expected at most ${limits.maxChars}`, true);
  const tree = new Tree(limits);
  const parser = new SaxesParser();
  const at = (): string => `line ${parser.line}, column ${parser.column}`;
  parser.on('error', () => {
    throw new XmlError(`it is no well-formed XML at ${at()}`);
  });
  parser.on('doctype', () => {
    throw new XmlError(`it has a document type at ${at()}, expected none`);
  });
  parser.on('opentag', ({ name, attributes }) => tree.open(name, attributes));
  parser.on('text', (piece) => tree.text(piece));
  parser.on('cdata', (piece) => tree.text(piece));
  parser.on('closetag', () => tree.close());
  parser.write(text.replace(/^\ufeff/, '')).close();
  if (tree.root === null) throw new XmlError('it has no element, expected one');
  return tree.root;
}

// What XML 1.0 cannot hold at all, not even as a reference, lone halves of surrogate pairs included.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNSPEAKABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
const DECLARATION = /^<\?xml\s[^>]{0,200}\?>/;
const CDATA = '<![CDATA[';

/**
 * A document of a program that does not write XML quite right, for {@link readXml}: what is no reference of the
 * standard's own is text, characters that XML cannot hold are spaces, and what declares its version is left out.
 */
export function mendXml(text: string): string {
  const [markup = '', ...sections] = text
    .replace(/^\ufeff/, '')
    .trimStart()
    .replace(DECLARATION, '')
    .replace(UNSPEAKABLE, ' ')
    .split(CDATA);
  const mended = sections.map((section) => {
    const end = section.indexOf(']]>');
    return end < 0 ? section : section.slice(0, end) + mendReferences(section.slice(end));
  });
  return [mendReferences(markup), ...mended].join(CDATA);
}

function mendReferences(text: string): string {
  return text.replace(
    /&(?:(?:amp|lt|gt|quot|apos);|#x([\da-f]{1,6});|#(\d{1,7});)?/gi,
    (whole, hexadecimal?: string, decimal?: string) => {
      if (hexadecimal === undefined && decimal === undefined)
        return /^&[a-z]+;$/.test(whole) ? whole : `&amp;${whole.slice(1)}`;
      const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
      return canHold(code) ? `&#${code};` : `&amp;${whole.slice(1)}`;
    },
  );
}

function canHold(code: number): boolean {
  return code > 0 && code <= 0x10ffff && String.fromCodePoint(code).search(UNSPEAKABLE) < 0;
}

/** How a document says in which charset it is written: before anything that would need one to be read. */
const DECLARED = /^<\?xml[^>]{1,100}?encoding\s*=\s*["']([\w.:-]{1,40})["']/;
const NAMED = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i;
const DECLARATION_MAX_BYTES = 200;

/**
 * The text of a document (RFC 7303 §3): its byte order mark says the charset, else the `Content-Type` that it came
 * with, else its own declaration; UTF-8 where nothing does.
 * @throws XmlError for a charset that is unknown
 */
export function decodeXml(bytes: Uint8Array, contentType = ''): string {
  const beginning = Buffer.from(bytes.subarray(0, DECLARATION_MAX_BYTES)).toString('latin1');
  const charset = marked(beginning) ?? NAMED.exec(contentType)?.[1] ?? DECLARED.exec(beginning)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    throw new XmlError('its charset is unknown, expected UTF-8');
  }
}

function marked(beginning: string): string | null {
  if (beginning.startsWith('\u00ff\u00fe')) return 'utf-16le';
  if (beginning.startsWith('\u00fe\u00ff')) return 'utf-16be';
  return beginning.startsWith('\u00ef\u00bb\u00bf') ? 'utf-8' : null;
}

class Tree {
  root: XmlElement | null = null;
  readonly #limits: XmlLimits;
  readonly #open: OpenElement[] = [];
  #count = 0;

  constructor(limits: XmlLimits) {
    this.#limits = limits;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const { maxDepth, maxElements } = this.#limits;
    this.#count += 1;
    if (this.#count > maxElements) throw new XmlError(`it has more than ${maxElements} elements`, true);
    if (this.#open.length >= maxDepth) throw new XmlError(`its elements are nested more than ${maxDepth} deep`, true);
    const element = { name, attributes: Object.assign(Object.create(null), attributes), children: [] };
    this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
  }

  text(piece: string): void {
    this.#open.at(-1)?.children.push(piece);
  }

  close(): void {
    const element = this.#open.pop();
    if (this.#open.length === 0 && element !== undefined) this.root = element;
  }
}

/** All text in an element, that of its children included. */
export function textOf({ children }: XmlElement): string {
  return children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** The elements right under one. */
export function elementsOf({ children }: XmlElement): XmlElement[] {
  return children.filter((child) => typeof child !== 'string');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser turns these into spaces inside an attribute unless they are references.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Text as it stands in an attribute or an element; what XML cannot hold becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text.replace(UNSPEAKABLE, '\ufffd').replace(/[&<>"'\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}

/** An element and all that is in it. Read again, it is the same. */
export function writeXml({ name, attributes, children }: XmlElement): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const inside = children.map((child) => (typeof child === 'string' ? escapeXml(child) : writeXml(child))).join('');
  return inside === '' ? `<${name}${pairs.join('')}/>` : `<${name}${pairs.join('')}>${inside}</${name}>`;
}
