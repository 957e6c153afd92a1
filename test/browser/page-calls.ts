/** Calls and events as the page's tests want them. */
import { expect } from 'vitest';
import type { CallView } from '../../src/calls/call-view.ts';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import type { Track } from '../../src/protocols/dialect.ts';
import { callView } from '../helpers/call-view.ts';
import type { StubGateway } from './stub-gateway.ts';

/** A live call between two numbers. */
export function call(id: string, changes: Partial<CallView> = {}): CallView {
  return callView(id, {
    to: '+15550199',
    startedAt: '2026-01-01T12:00:00.000Z',
    tracks: ['inbound', 'outbound'],
    durationMs: 4000,
    ...changes,
  });
}

/** A caption whose utterance begins at as many seconds as its number. */
export function caption(
  callId: string,
  utterance: number,
  words: { stable: string; tail?: string; final?: boolean; track?: Track; lagMs?: number },
): CaptionEvent {
  const { stable, tail = '', final = false, track = 'inbound', lagMs = 85 } = words;
  const startMs = utterance * 1000;
  const times = { startMs, endMs: startMs + 900, lagMs };
  return { type: 'caption', callId, track, utterance, stable, tail, text: `${stable}${tail}`, final, ...times };
}

/** Waits until the page reads the feed. */
export async function waitForReader(gateway: StubGateway): Promise<void> {
  await expect.poll(() => gateway.readers, { interval: 20 }).toBe(1);
}
