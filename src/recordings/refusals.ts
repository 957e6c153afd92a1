/** What is said of recordings that cannot be transcribed, whoever finds that out. */
import { TrunklineError } from '../foundation/errors.ts';

/** The file cannot be decoded; `why` goes on where that is said. */
export function unreadable(why: string): TrunklineError {
  return new TrunklineError('audio_unreadable', `the file cannot be decoded: ${why}`);
}

/** The file holds more audio than AUDIO_MAX_SECONDS. */
export function tooLong(maxSeconds: number): TrunklineError {
  return new TrunklineError(
    'audio_too_long',
    `the file holds more than ${maxSeconds} s of audio, which is the most allowed (AUDIO_MAX_SECONDS)`,
  );
}

/** The channels of the file cannot each be transcribed by themselves. */
export function tooManyChannels(channels: number, channelsMax: number): TrunklineError {
  return new TrunklineError(
    'audio_unreadable',
    `the file has ${channels} channels, expected at most ${channelsMax} with channels=split`,
  );
}
