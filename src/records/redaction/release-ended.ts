import type { Feed } from '../../calls/feed/feed.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Recorder } from '../recorder.ts';

interface ReleaseOptions {
  readonly feed: Pick<Feed, 'subscribeOwn'>;
  readonly registry: Pick<CallRegistry, 'release'>;
  /** Null = nothing is stored. */
  readonly recorder: Pick<Recorder, 'settled'> | null;
}

/**
 * With `REDACT=store` memory has calls as they were said: it lets go of each that has ended as soon as it is stored, so
 * that everybody gets what is kept. Where nothing is stored, nothing is left. To be called after the recorder follows
 * `feed`.
 */
export function releaseEnded({ feed, registry, recorder }: ReleaseOptions): void {
  feed.subscribeOwn({}, ({ event }) => {
    if (event.type !== 'call.ended') return;
    const { callId } = event;
    if (recorder === null) registry.release(callId);
    else void recorder.settled().then(() => registry.release(callId));
  });
}
