/**
 * Nothing is sent unasked: onnxruntime 1.30 on Linux, left to itself, looks for its maker's collector in DNS, reads
 * /etc/machine-id, keeps events in XDG_CACHE_HOME and leaves `mat-debug-<pid>.log` in TMPDIR. It looks at this variable
 * once, when its library is loaded.
 */

/** What tells onnxruntime to gather and send nothing. */
export const TELEMETRY_OFF = Object.freeze({ ORT_DISABLE_TELEMETRY: '1' });

Object.assign(process.env, TELEMETRY_OFF);
