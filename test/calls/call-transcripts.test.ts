import { describe, expect, it } from 'vitest';
import { CallTranscripts } from '../../src/calls/call-transcripts.ts';
import type { ArchivedEntries } from '../../src/calls/feed/archive.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import type { FeedEntry } from '../../src/calls/feed/feed.ts';
import { startCalls } from './harness.ts';

const caption = (utterance: number): FeedEvent => ({
  type: 'caption',
  callId: 'CA1',
  track: 'inbound',
  utterance,
  stable: 'Hi.',
  tail: '',
  text: 'Hi.',
  final: true,
  startMs: utterance,
  endMs: utterance,
  lagMs: 1,
});

/** An archive that has `events` of CA1. */
function archiveOf(events: readonly FeedEvent[]) {
  const entries: FeedEntry[] = events.map((event, index) => ({ id: `e-${index + 1}`, event, json: '' }));
  const asked: number[] = [];
  const after = async (id: string | null, { callId }: { callId?: string }, limit: number): Promise<ArchivedEntries> => {
    asked.push(limit);
    const from = entries.findIndex((entry) => entry.id === id) + 1;
    const page = callId === 'CA1' ? entries.slice(from, from + limit) : [];
    return { entries: page, complete: from + page.length >= entries.length };
  };
  return { after, asked };
}

describe('the transcript of a call', () => {
  it('comes from memory as long as that has it whole', async () => {
    const { registry, dial, clock } = startCalls();
    dial().start().speak(640).hush(600);
    await clock.run(1000);
    const archive = archiveOf([caption(1), caption(2)]);
    const transcripts = new CallTranscripts({ calls: registry, archive });
    expect((await transcripts.transcript('CA1'))?.items).toHaveLength(1);
    expect(archive.asked).toEqual([]);
  });

  it('comes from the store page by page where memory has nothing of it, with the names that were given', async () => {
    const { registry } = startCalls();
    const names = { inbound: 'Maria', outbound: 'Tom' };
    const started = { type: 'call.started', callId: 'CA1', names } as FeedEvent;
    const archive = archiveOf([started, ...Array.from({ length: 1200 }, (_, index) => caption(index + 1))]);
    const transcripts = new CallTranscripts({ calls: registry, archive });
    const found = await transcripts.transcript('CA1');
    expect([found?.items.length, found?.names]).toEqual([1200, names]);
    expect(archive.asked).toHaveLength(3);
    expect(await transcripts.transcript('CA2')).toBeUndefined();
  });

  it('is nowhere where nothing is stored', async () => {
    const { registry } = startCalls();
    expect(await new CallTranscripts({ calls: registry, archive: null }).transcript('CA1')).toBeUndefined();
  });
});
