/** Errors of recordings that cannot be transcribed. */
import { TrunklineError } from '../foundation/errors.ts';

/** The file cannot be decoded; `why` ends the message. */
export function unreadable(why: string): TrunklineError {
  return new TrunklineError('audio_unreadable', `the file cannot be decoded: ${why}`);
}

/** The file has more audio than AUDIO_MAX_SECONDS. */
export function tooLong(maxSeconds: number): TrunklineError {
  return new TrunklineError(
    'audio_too_long',
    `the file has more than ${maxSeconds} s of audio, the most allowed (AUDIO_MAX_SECONDS)`,
  );
}

/** The file has too many channels to transcribe each by itself. */
export function tooManyChannels(channels: number, channelsMax: number): TrunklineError {
  return new TrunklineError(
    'audio_unreadable',
    `the file has ${channels} channels, expected at most ${channelsMax} with channels=split`,
  );
}
