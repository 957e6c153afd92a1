/** What a leg on a carrier's own socket puts up with, whatever it speaks there. */
import type { Settings } from '../../foundation/settings/settings.ts';

/** The limits of a leg. */
export interface LegLimits {
  /** From the first moment to `start`. */
  readonly startTimeoutMs: number;
  /** Longest time without any message after `start`; a carrier that can be probed is asked after half of it. */
  readonly mediaTimeoutMs: number;
  /** Most that may wait to be sent. */
  readonly sendBufferMaxBytes: number;
}

/** The settings that limit legs. */
export type LegSettings = Pick<Settings, 'START_TIMEOUT_MS' | 'MEDIA_TIMEOUT_MS' | 'SEND_BUFFER_MAX_BYTES'>;

/** The limits that the settings give to every leg. */
export function legLimits(settings: LegSettings): LegLimits {
  return {
    startTimeoutMs: settings.START_TIMEOUT_MS,
    mediaTimeoutMs: settings.MEDIA_TIMEOUT_MS,
    sendBufferMaxBytes: settings.SEND_BUFFER_MAX_BYTES,
  };
}
