/** Limits of one recording of a flow. Routes name them where there are no flows, and nothing of these is loaded. */

/** Five minutes of stereo at 48 kHz have 58 MB. */
export const RECORDING_MAX_BYTES = 67_108_864;
/** The longest that is decoded. */
export const RECORDING_MAX_S = 300;
