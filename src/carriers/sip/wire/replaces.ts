/** The header Replaces (RFC 3891): the dialog in whose place a call comes. */
import { SipFault } from './fault.ts';
import type { SipHeaders } from './headers.ts';

/** The option tag. */
export const REPLACES_TAG = 'replaces';

/** Longest value; a Call-ID and two tags have a tenth of it. */
const VALUE_MAX_CHARS = 1024;
/** RFC 3261 §25.1: a Call-ID is a word, maybe with another one behind an `@`; tags are tokens. */
const CALL_ID = /^[\w.!%*+`'~()<>:\\"/[\]?{}@-]{1,256}$/;
const TAG = /^[\w.!%*+`'~-]{1,256}$/;

/** A dialog as its user agent names it, which gets a Replaces. */
export interface ReplacedDialog {
  readonly callId: string;
  /** The tag of whoever gets the header; `0` = none, as in RFC 2543. */
  readonly toTag: string;
  readonly fromTag: string;
  /** Only as long as nobody has answered. */
  readonly isEarlyOnly: boolean;
}

/**
 * Reads one value, such as `98732@host;to-tag=r33th4x0r;from-tag=ff87ff`. Parameters that are unknown are passed over.
 * @throws SipFault
 */
export function readReplaces(value: string): ReplacedDialog {
  const wanted = 'a Call-ID, to-tag and from-tag, each once';
  if (value.length > VALUE_MAX_CHARS)
    throw new SipFault(`a Replaces of ${value.length} characters`, `at most ${VALUE_MAX_CHARS}`);
  const [callId = '', ...parameters] = value.split(';').map((part) => part.trim());
  const named = new Map<string, string>();
  for (const parameter of parameters) {
    const [, name = '', text = ''] = /^([^\s=]+)(?:\s*=\s*(\S.*)?)?$/.exec(parameter) ?? [];
    const key = name.toLowerCase();
    if (named.has(key)) throw new SipFault('a Replaces with a parameter twice', wanted);
    named.set(key, text);
  }
  const toTag = named.get('to-tag') ?? '';
  const fromTag = named.get('from-tag') ?? '';
  if (!CALL_ID.test(callId) || !TAG.test(toTag) || !TAG.test(fromTag))
    throw new SipFault('a Replaces that cannot be read', wanted);
  return { callId, toTag, fromTag, isEarlyOnly: named.has('early-only') };
}

/** The value that {@link readReplaces} reads. */
export function writeReplaces({ callId, toTag, fromTag, isEarlyOnly }: ReplacedDialog): string {
  return `${callId};to-tag=${toTag};from-tag=${fromTag}${isEarlyOnly ? ';early-only' : ''}`;
}

/**
 * The dialog that an INVITE is to replace; null = none.
 * @throws SipFault when it names several, or one that cannot be read
 */
export function replacedBy(message: SipHeaders): ReplacedDialog | null {
  const values = message.getHeaders('replaces');
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1) throw new SipFault(`${values.length} headers Replaces`, 'one');
  return readReplaces(value);
}
