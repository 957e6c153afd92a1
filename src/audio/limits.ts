/** Limits of sound files, the same for the decoders, the WAV reader and ffmpeg. */

/**
 * Sampling rates of files in Hz, from those of old sound cards to those of studios. Lower rates would make few bytes
 * long: a second at 16 kHz is four hours at 1 Hz.
 */
const FILE_RATE_MIN_HZ = 4000;
const FILE_RATE_MAX_HZ = 192_000;
/** Most channels of a file: 7.1 surround. */
const FILE_CHANNELS_MAX = 8;

/** Why a file of this sampling rate (in Hz) and number of channels is not allowed; null = it is. */
export function refusalOf(rateHz: number, channels: number): string | null {
  if (!Number.isInteger(rateHz) || rateHz < FILE_RATE_MIN_HZ || rateHz > FILE_RATE_MAX_HZ)
    return `its sampling rate is ${rateHz} Hz, expected ${FILE_RATE_MIN_HZ} to ${FILE_RATE_MAX_HZ}`;
  return channelRefusalOf(channels);
}

/** Why a file of this number of channels is not allowed, when its sampling rate is unknown; null = it is. */
export function channelRefusalOf(channels: number): string | null {
  const isAllowed = Number.isInteger(channels) && channels >= 1 && channels <= FILE_CHANNELS_MAX;
  return isAllowed ? null : `it has ${channels} channels, expected 1 to ${FILE_CHANNELS_MAX}`;
}
