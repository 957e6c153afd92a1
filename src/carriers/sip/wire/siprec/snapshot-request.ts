/**
 * The request for all metadata of a recording (RFC 7866 §9.2): what we ask when an update names something that nobody
 * has described, because what came before was lost or cannot be read.
 */
import type { SipBody } from '../bodies.ts';
import type { RecordingMetadata } from './metadata.ts';

const METADATA = 'application/rs-metadata+xml';
/** As the drafts before the RFC had it. */
const REQUEST = 'application/rs-metadata-request';

/**
 * Whether `update` cannot be understood with what was known before: it is partial, and there was nothing, or it names
 * participants or streams that are described nowhere.
 */
export function isIncomplete(known: RecordingMetadata | null, update: RecordingMetadata): boolean {
  if (!update.isPartial) return false;
  if (known === null) return true;
  const described = known.participants.filter(({ aor, name }) => aor !== null || name !== null);
  const people = new Set(described.map(({ id }) => id));
  const streams = new Set([...known.streams, ...update.streams].map(({ id }) => id));
  const isUnknown = ({ id, aor, name, hasLeft }: RecordingMetadata['participants'][number]): boolean =>
    !people.has(id) && aor === null && name === null && hasLeft !== true;
  // A vendor that describes no streams at all describes none later either.
  const isLost = (id: string): boolean => streams.size > 0 && !streams.has(id);
  return update.participants.some((each) => isUnknown(each) || (each.sends ?? []).some(isLost));
}

/**
 * The body of the UPDATE. `accepted` = the values of the peer's Accept: a peer of the drafts names the type that they
 * had.
 */
export function snapshotRequest(accepted: readonly string[]): SipBody {
  const isDraft = accepted.some((value) => value.toLowerCase().includes(REQUEST));
  return {
    contentDisposition: 'recording-session',
    contentType: isDraft ? REQUEST : METADATA,
    content:
      '<?xml version="1.0" encoding="UTF-8"?>\r\n' +
      "<requestsnapshot xmlns='urn:ietf:params:xml:ns:recording:1'>" +
      '<requestreason>metadata are missing</requestreason></requestsnapshot>\r\n',
  };
}
