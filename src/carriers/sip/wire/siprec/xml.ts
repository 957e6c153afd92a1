/**
 * XML as metadata of recordings have it. Names lose their prefix: vendors choose any, and several names of the
 * namespace itself are in use.
 */
import { TrunklineError } from '../../../../foundation/errors.ts';
import {
  elementsOf,
  mendXml,
  readXml,
  type XmlElement as WrittenElement,
  XmlError,
  type XmlLimits,
} from '../../../../protocols/xml.ts';

/** Metadata of a call have 2 to 8 kB. */
export const XML_MAX_CHARS = 65_536;
const LIMITS: XmlLimits = { maxChars: XML_MAX_CHARS, maxDepth: 16, maxElements: 2048 };
const ATTRIBUTES_MAX = 32;

/** An element. Names are without prefixes, otherwise as they were written. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Its own text, that of its children left out, without white space at both ends. */
  readonly text: string;
}

/**
 * Reads a document and returns its root. Errors do not show what is in it: names and numbers of people.
 * @throws TrunklineError `message_malformed`, `message_too_large`
 */
export function parseXml(text: string): XmlElement {
  try {
    if (text.length > XML_MAX_CHARS)
      throw new XmlError(`it has ${text.length} characters, expected at most ${XML_MAX_CHARS}`, true);
    // What is mended is longer, and was measured before.
    return withoutPrefixes(readXml(mendXml(text), { ...LIMITS, maxChars: Number.POSITIVE_INFINITY }));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw new TrunklineError(error.isTooLarge ? 'message_too_large' : 'message_malformed', `XML: ${error.message}`);
  }
}

function withoutPrefixes(element: WrittenElement): XmlElement {
  const attributes = Object.entries(element.attributes);
  if (attributes.length > ATTRIBUTES_MAX)
    throw new XmlError(`an element has more than ${ATTRIBUTES_MAX} attributes`, true);
  return {
    name: localOf(element.name),
    attributes: new Map(attributes.map(([name, value]) => [localOf(name), value])),
    children: elementsOf(element).map(withoutPrefixes),
    text: element.children
      .filter((child) => typeof child === 'string')
      .join('')
      .trim(),
  };
}

function localOf(qualified: string): string {
  return qualified.slice(qualified.lastIndexOf(':') + 1);
}
