/**
 * What a call that is not over is doing. `queued`: the caller waits in a queue and hears prompts; `held`: the far side
 * holds it.
 */
export type CallPhase = 'ringing' | 'queued' | 'live' | 'held';
