/** The messages of Deepgram's `WS /v2/speak` (Flux TTS), as its AsyncAPI description has them. */
import type { ErrorCode } from '../../../foundation/errors.ts';
import type { SpokenModel } from './speak-messages.ts';

/** What was said, of a turn or of a whole session. */
export interface SpokenAmount {
  readonly soundMs: number;
  /** Of the text as it came. */
  readonly inputChars: number;
}

/** The first message of a socket. */
export function connectedMessage(requestId: string, { name, version, uuid }: SpokenModel): string {
  return JSON.stringify({
    type: 'Connected',
    request_id: requestId,
    model_name: name,
    model_version: version,
    model_uuids: [uuid],
  });
}

/** All sound up to this turn's `Flushed` is its own. */
export function speechStartedMessage(speechId: string): string {
  return JSON.stringify({ type: 'SpeechStarted', speech_id: speechId });
}

/** Says behind the sound of a turn how much of it there was. No text has controls that would not be billed. */
export function speechMetadataMessage(speechId: string, { soundMs, inputChars }: SpokenAmount): string {
  return JSON.stringify({
    type: 'SpeechMetadata',
    speech_id: speechId,
    audio_duration_ms: Math.round(soundMs),
    input_character_count: inputChars,
    billable_character_count: inputChars,
    controls_applied: { pronunciations_applied: 0, pronunciation_warnings: 0 },
  });
}

/** The last message of a turn. */
export function turnFlushedMessage(speechId: string): string {
  return JSON.stringify({ type: 'Flushed', speech_id: speechId });
}

/** The last message of a socket. */
export function sessionMetadataMessage({ soundMs, inputChars }: SpokenAmount): string {
  return JSON.stringify({
    type: 'SessionMetadata',
    total_audio_duration_ms: Math.round(soundMs),
    total_input_character_count: inputChars,
    total_billable_character_count: inputChars,
  });
}

/** Says what was passed over; the socket goes on. */
export function turnWarningMessage(code: string, description: string): string {
  return JSON.stringify({ type: 'Warning', code, description });
}

/** Says why the socket is closed next, with one of the codes that its clients know. */
export function turnErrorMessage(code: ErrorCode, description: string): string {
  return JSON.stringify({
    type: 'Error',
    code: code === 'too_many_requests' ? 'DATA-0000' : 'NET-0000',
    description,
  });
}
