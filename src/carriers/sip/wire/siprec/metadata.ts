/**
 * Metadata of recorded calls (RFC 7865): who takes part, and whose speech each stream carries. Read by the names of
 * elements alone, in the form of the RFC and in those of the drafts before it, which are still sent.
 */
import { parseXml, type XmlElement } from './xml.ts';

/** Participants and streams of one call that are kept; a conference has fewer. */
const KEPT_MAX = 256;
const TEXT_MAX_CHARS = 256;

/** Somebody in the call. Null = the metadata do not say. */
export interface Participant {
  readonly id: string;
  /** Address: `sip:+14155550100@host`, `tel:`, or anything else that a vendor writes. */
  readonly aor: string | null;
  readonly name: string | null;
  /** Whether it was this one who called. */
  readonly isCaller: boolean | null;
  /** The streams that carry what this one says. */
  readonly sends: readonly string[] | null;
  readonly hasLeft: boolean | null;
}

/** A stream of the recording; `label` is that of the session description. */
export interface RecordedStream {
  readonly id: string;
  readonly label: string | null;
}

/** What is said of a recorded call. */
export interface RecordingMetadata {
  /** Only what has changed. */
  readonly isPartial: boolean;
  /** Ids of the communication session, of its group, of its SIP sessions (RFC 7989) and of the vendor. */
  readonly sessionId: string | null;
  readonly groupId: string | null;
  readonly sipSessionId: string | null;
  readonly ucid: string | null;
  /** From, To and Call-ID of the recorded call, where a vendor tells them. */
  readonly original: { readonly from: string | null; readonly to: string | null; readonly callId: string | null };
  /** In document order. */
  readonly participants: readonly Participant[];
  readonly streams: readonly RecordedStream[];
}

/**
 * Reads metadata.
 * @throws TrunklineError `message_malformed`, `message_too_large`
 */
export function readMetadata(xml: string): RecordingMetadata {
  const root = parseXml(xml);
  const session = childOf(root, 'session');
  const callData = findBelow(root, 'calldata');
  return {
    isPartial: root.children.some(({ name, text }) => /^datamode$/i.test(name) && /^partial$/i.test(text)),
    sessionId: session === null ? null : idOf(session, 'session_id'),
    groupId: nullIfNone(bounded(idOf(childOf(root, 'group') ?? root, 'group_id') ?? textIn(session, 'group-ref'))),
    sipSessionId: textIn(session, 'sipSessionID'),
    ucid: nullIfNone(bounded(findBelow(root, 'ucid')?.text)),
    original: {
      from: textIn(callData, 'fromhdr'),
      to: textIn(callData, 'tohdr'),
      callId: textIn(callData, 'callid'),
    },
    participants: readParticipants(root).slice(0, KEPT_MAX),
    streams: childrenOf(root, 'stream').flatMap(readStream).slice(0, KEPT_MAX),
  };
}

/** What is known after an update: a partial one changes only what it names. */
export function mergeMetadata(known: RecordingMetadata | null, update: RecordingMetadata): RecordingMetadata {
  if (known === null || !update.isPartial) return update;
  return {
    isPartial: false,
    sessionId: update.sessionId ?? known.sessionId,
    groupId: update.groupId ?? known.groupId,
    sipSessionId: update.sipSessionId ?? known.sipSessionId,
    ucid: update.ucid ?? known.ucid,
    original: {
      from: update.original.from ?? known.original.from,
      to: update.original.to ?? known.original.to,
      callId: update.original.callId ?? known.original.callId,
    },
    participants: mergeById(known.participants, update.participants, mergeParticipants),
    streams: mergeById(known.streams, update.streams, (before, now) => ({
      id: now.id,
      label: now.label ?? before.label,
    })),
  };
}

function mergeById<T extends { readonly id: string }>(
  known: readonly T[],
  updates: readonly T[],
  merge: (before: T, now: T) => T,
): T[] {
  const all = new Map(known.map((each) => [each.id, each]));
  for (const update of updates) {
    const before = all.get(update.id);
    all.set(update.id, before === undefined ? update : merge(before, update));
  }
  return [...all.values()].slice(0, KEPT_MAX);
}

function mergeParticipants(before: Participant, now: Participant): Participant {
  return {
    id: now.id,
    aor: now.aor ?? before.aor,
    name: now.name ?? before.name,
    isCaller: now.isCaller ?? before.isCaller,
    sends: now.sends ?? before.sends,
    hasLeft: now.hasLeft ?? before.hasLeft,
  };
}

/** Whoever is only associated with something, as in an update, comes after those who are described. */
function readParticipants(root: XmlElement): Participant[] {
  const described = childrenOf(root, 'participant').flatMap(readParticipant);
  const inSession = childrenOf(root, 'participantsessionassoc').flatMap((element) => {
    const left = childOf(element, 'disassociate-time') !== null;
    const joined = childOf(element, 'associate-time') !== null;
    return named(element, { hasLeft: left || !joined ? left || null : false });
  });
  const onStreams = childrenOf(root, 'participantstreamassoc').flatMap((element) => {
    const left = childOf(element, 'disassociate-time') !== null;
    return named(element, { sends: left ? [] : sendsOf(element) });
  });
  return mergeById([], [...described, ...inSession, ...onStreams], mergeParticipants);
}

function readParticipant(element: XmlElement): Participant[] {
  const nameId = childOf(element, 'nameID');
  const calling = findBelow(element, 'callingparty')?.text ?? '';
  const sends = sendsOf(element);
  return named(element, {
    aor: nullIfNone(bounded(nameId?.attributes.get('aor'))) ?? textIn(element, 'aor'),
    name: textIn(nameId, 'name') ?? textIn(element, 'name'),
    isCaller: /^true$/i.test(calling) ? true : /^false$/i.test(calling) ? false : null,
    // As drafts before the RFC had it.
    sends: sends.length > 0 ? sends : null,
  });
}

function named(element: XmlElement, told: Partial<Participant>): Participant[] {
  const id = idOf(element, 'participant_id');
  const unknown = { aor: null, name: null, isCaller: null, sends: null, hasLeft: null };
  return id === null ? [] : [{ ...unknown, ...told, id }];
}

function sendsOf(element: XmlElement): string[] {
  return childrenOf(element, 'send').flatMap(({ text }) => nullIfNone(bounded(text)) ?? []);
}

function readStream(element: XmlElement): RecordedStream[] {
  const id = idOf(element, 'stream_id') ?? nullIfNone(bounded(element.attributes.get('streamid')));
  const label = textIn(element, 'label') ?? nullIfNone(bounded(element.attributes.get('label')));
  return id === null ? [] : [{ id, label }];
}

/** An id as the RFC names it, or as the drafts did. */
function idOf({ attributes }: XmlElement, name: string): string | null {
  return nullIfNone(bounded(attributes.get(name) ?? attributes.get('id')));
}

function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name.toLowerCase() === name.toLowerCase());
}

function childOf(element: XmlElement, name: string): XmlElement | null {
  return childrenOf(element, name)[0] ?? null;
}

/** The first element of this name, in lower case, at any depth: where vendors put their own. */
function findBelow(element: XmlElement, name: string): XmlElement | null {
  for (const child of element.children) {
    const found = child.name.toLowerCase() === name ? child : findBelow(child, name);
    if (found !== null) return found;
  }
  return null;
}

function textIn(element: XmlElement | null, name: string): string | null {
  return element === null ? null : nullIfNone(bounded(childOf(element, name)?.text));
}

/** On one line, without control characters: it is shown to people. */
function bounded(text: string | null | undefined): string {
  return (text ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, TEXT_MAX_CHARS);
}

function nullIfNone(text: string): string | null {
  return text === '' ? null : text;
}
