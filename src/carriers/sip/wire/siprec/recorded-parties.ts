/** Who called whom in a recorded call, and which of its streams is the caller's. */
import { displayNameOf, userOf } from '../uris.ts';
import type { Participant, RecordingMetadata } from './metadata.ts';

/** One side of the recorded call; null = not told. */
export interface RecordedParty {
  /** User or telephone number. */
  readonly user: string | null;
  readonly name: string | null;
}

/** What is known of a recorded call. */
export interface RecordedParties {
  readonly caller: RecordedParty;
  readonly callee: RecordedParty;
  /** Which of the streams carries what the caller says: 0 or 1. */
  readonly callerStream: number;
}

const NOBODY: RecordedParty = { user: null, name: null };
/** Labels that vendors give to the caller's stream and to the callee's. */
const CALLER_LABEL = /^(?:1|a_leg|a-leg|inbound|caller|calling)$/i;
const CALLEE_LABEL = /^(?:2|b_leg|b-leg|outbound|callee|called)$/i;
const ANONYMOUS = /^sips?:anonymous@/i;

/**
 * `labels` = those of the one or two streams that are taken, in the order of the session description; null = no label.
 * Without metadata, and where they do not say, the first stream is the caller's.
 */
export function recordedParties(
  metadata: RecordingMetadata | null,
  labels: readonly (string | null)[],
): RecordedParties {
  const callerByLabel = isSwappedByLabel(labels) ? 1 : 0;
  if (metadata === null) return { caller: NOBODY, callee: NOBODY, callerStream: callerByLabel };
  const present = metadata.participants.filter(({ hasLeft }) => hasLeft !== true);
  const speakers = speakersOf(metadata, present, labels);
  const known = knownCaller(metadata, present);
  const callerStream = known === null ? callerByLabel : streamOf(known, speakers, callerByLabel);
  const caller = known ?? speakers[callerStream]?.[0] ?? null;
  const others = [...(speakers[1 - callerStream] ?? []), ...(speakers[callerStream] ?? []), ...present];
  const callee = others.find((each) => each !== caller) ?? null;
  const { from, to } = metadata.original;
  return { caller: partyOf(caller, from), callee: partyOf(callee, to), callerStream };
}

function isSwappedByLabel([first, second]: readonly (string | null)[]): boolean {
  return CALLEE_LABEL.test(first ?? '') && CALLER_LABEL.test(second ?? '');
}

/**
 * Who speaks on each of the streams. Where the metadata name no speakers, participants and streams are in the same
 * order; a stream alone is then a mixture of all.
 */
function speakersOf(
  metadata: RecordingMetadata,
  present: readonly Participant[],
  labels: readonly (string | null)[],
): readonly (readonly Participant[])[] {
  const ids = streamIdsOf(metadata, labels);
  if (present.every(({ sends }) => sends === null || sends.length === 0))
    return labels.length === 1 ? [present] : labels.map((_, i) => present.slice(i, i + 1));
  return ids.map((id) => present.filter(({ sends }) => id !== null && sends?.includes(id)));
}

/** The streams of the metadata: by label, and those without a match by order. */
function streamIdsOf({ streams }: RecordingMetadata, labels: readonly (string | null)[]): (string | null)[] {
  const byLabel = labels.map((label) => streams.find((stream) => label !== null && stream.label === label) ?? null);
  const rest = streams.filter((stream) => !byLabel.includes(stream));
  return byLabel.map((stream) => (stream ?? rest.shift())?.id ?? null);
}

/** The participant of whom something says that it called; null = nothing does. */
function knownCaller({ original }: RecordingMetadata, present: readonly Participant[]): Participant | null {
  const marked =
    present.find(({ isCaller }) => isCaller === true) ?? onlyOther(present, ({ isCaller }) => isCaller === false);
  if (marked !== null) return marked;
  const [from, to] = [userOf(original.from ?? ''), userOf(original.to ?? '')];
  if (from === to) return null;
  const calling = present.find(({ aor }) => from !== null && userIn(aor) === from);
  return calling ?? onlyOther(present, ({ aor }) => to !== null && userIn(aor) === to);
}

/** Of two, the one that `test` does not hold for, when it holds for the other. */
function onlyOther(present: readonly Participant[], test: (each: Participant) => boolean): Participant | null {
  const others = present.filter((each) => !test(each));
  return present.length === 2 && others.length === 1 ? (others[0] ?? null) : null;
}

function streamOf(caller: Participant, speakers: readonly (readonly Participant[])[], otherwise: number): number {
  const own = speakers.findIndex((each) => each.includes(caller));
  if (own >= 0) return own;
  // Somebody else speaks on one of them, so the caller is on the other.
  const free = speakers.findIndex((each) => each.length === 0);
  return speakers.length === 2 && free >= 0 ? free : otherwise;
}

/** A participant, or what the vendor tells of the recorded call's own headers. */
function partyOf(participant: Participant | null, header: string | null): RecordedParty {
  const user = userIn(participant?.aor ?? null) ?? userOf(header ?? '');
  const name = participant?.name ?? (header === null ? null : displayNameOf(header));
  return { user, name: name === user ? null : name };
}

/** The user part of an address in any of the forms that vendors write; null for a caller who withholds it. */
function userIn(aor: string | null): string | null {
  if (aor === null || ANONYMOUS.test(aor)) return null;
  return userOf(aor) ?? (/^sips?:/i.test(aor) ? null : aor.split(/[@;]/)[0]?.trim() || null);
}
