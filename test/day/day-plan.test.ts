/** The planned day of a call centre: varied enough to look at a console with. */
import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { DAY_MS, type PlannedCall, planDay } from './day-plan.ts';
import { readDialogues } from './dialogues.ts';
import { AGENTS } from './people.ts';

const FROM_MS = Date.UTC(2026, 0, 5, 8);

function plan(calls = 2000): PlannedCall[] {
  return planDay({ calls, dialogues: readDialogues(), random: seededRandom(1), fromMs: FROM_MS });
}

function eventsOf<T extends FeedEvent['type']>(calls: readonly PlannedCall[], type: T) {
  const events = calls.flatMap((call) => call.events.map(({ event }) => event));
  return events.filter((event): event is Extract<FeedEvent, { type: T }> => event.type === type);
}

describe('a day of 2,000 calls', () => {
  const calls = plan();

  it('is the same for the same seed', () => {
    expect(plan(50)).toEqual(plan(50));
  });

  it('has every kind of call, each with one end, and nothing after it', () => {
    expect(calls).toHaveLength(2000);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2000);
    const ends = eventsOf(calls, 'call.ended');
    expect(ends).toHaveLength(2000);
    expect(calls.every(({ events }) => events.at(-1)?.event.type === 'call.ended')).toBe(true);
    expect([...new Set(ends.map(({ reason }) => reason))].toSorted()).toEqual(
      'app app_unreachable busy closed error hangup lost refused timeout unanswered'.split(' '),
    );
    for (const type of ['caption', 'revision', 'spoken', 'dtmf', 'gap', 'lag.started', 'note', 'call.updated'] as const)
      expect(eventsOf(calls, type).length, type).toBeGreaterThan(10);
    expect(new Set(eventsOf(calls, 'call.state').map(({ state }) => state))).toEqual(
      new Set(['queued', 'held', 'live']),
    );
  });

  it('has a busy and a quiet hour', () => {
    const hours = new Map<number, number>();
    for (const { startMs } of calls) {
      expect(startMs).toBeGreaterThanOrEqual(FROM_MS);
      expect(startMs).toBeLessThan(FROM_MS + DAY_MS);
      const hour = Math.floor((startMs - FROM_MS) / 3_600_000);
      hours.set(hour, (hours.get(hour) ?? 0) + 1);
    }
    expect(Math.max(...hours.values())).toBeGreaterThan(2.5 * Math.min(...hours.values()));
  });

  it('gives an agent one call at a time', () => {
    for (const { id } of AGENTS) {
      const own = calls.filter(({ agent, events }) => agent === id && events.length > 1);
      const talks = own.map(({ startMs, ringsMs, events }) => {
        const queued = events.find(({ event }) => event.type === 'call.state' && event.state === 'queued');
        const answered = queued && events.find(({ event }) => event.type === 'call.state' && event.state === 'live');
        const fromMs = startMs + (answered?.atMs ?? 0);
        return { fromMs, toMs: startMs + (ringsMs ?? 0) + (events.at(-1)?.atMs ?? 0) };
      });
      talks.sort((a, b) => a.fromMs - b.fromMs);
      const isOverlapping = talks.some(({ fromMs }, at) => at > 0 && fromMs < (talks[at - 1]?.toMs ?? 0));
      expect(isOverlapping, id).toBe(false);
    }
  });

  it('says many different things, with whole numbers and no gaps in its texts', () => {
    const captions = eventsOf(calls, 'caption');
    expect(new Set(captions.map(({ text }) => text)).size).toBeGreaterThan(1500);
    expect(captions.filter(({ text }) => /[{}]|undefined/.test(text))).toEqual([]);
    expect(captions.every(({ startMs, endMs, lagMs }) => [startMs, endMs, lagMs].every(Number.isInteger))).toBe(true);
  });
});
