import { describe, expect, it } from 'vitest';
import { Feed } from '../../src/calls/feed/feed.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { CardDeck } from '../../src/hints/card-deck.ts';
import { CardHints } from '../../src/hints/card-hints.ts';
import { parseCards } from '../../src/hints/cards.ts';
import { caption, ended, hintsOf, revision, started } from './said.ts';

const CARDS = `cards:
  - { title: Slow, text: Ask., words: [very slow], track: inbound, link: "https://x.example/" }
  - { title: Card, text: Pause., words: [card], once: false }
`;

function open(wants = () => true) {
  const feed = new Feed({ history: 1000, epoch: 'e' });
  const hints = hintsOf(feed);
  const state = { deck: new CardDeck(parseCards(CARDS, 'h.yaml')) };
  const cards = new CardHints({ feed, deck: () => state.deck, wants, metrics: new Metrics().hints });
  feed.publish(started('CA1'));
  return { feed, hints, state, cards };
}

describe('cards beside a call', () => {
  it('are shown once with the words that brought them, also when two utterances or a revision have these', () => {
    const { feed, hints } = open();
    feed.publish(caption('CA1', 1, 'It is very'));
    feed.publish(caption('CA1', 1, 'slow is said by another', { track: 'outbound' }));
    feed.publish({ ...caption('CA1', 2, 'slow partial'), final: false });
    feed.publish({ ...caption('CA1', 4, 'very slow on television'), background: true });
    expect(hints).toEqual([]);
    feed.publish(revision('CA1', 2, 2, 'slow here.'));
    feed.publish(caption('CA1', 3, 'Very slow!'));
    expect(hints).toEqual([
      {
        type: 'hint',
        callId: 'CA1',
        hint: 'card:Slow',
        source: 'card',
        title: 'Slow',
        text: 'Ask.',
        link: 'https://x.example/',
        words: 'very slow',
        track: 'inbound',
        atMs: 2500,
      },
    ]);
  });

  it('are shown again with once: false, but not for a revision of the same words', () => {
    const { feed, hints } = open();
    feed.publish(caption('CA1', 1, 'my card'));
    feed.publish(revision('CA1', 1, 2, 'My card'));
    feed.publish(caption('CA1', 2, 'no'));
    feed.publish(caption('CA1', 3, 'the card'));
    expect(hints.map(({ hint, atMs }) => [hint, atMs])).toEqual([
      ['card:Card', 1500],
      ['card:Card', 3500],
    ]);
  });

  it('are those of the newest file, and stop with the call', () => {
    const { feed, hints, state, cards } = open();
    state.deck = new CardDeck(parseCards('cards: [{ title: New, text: X, words: [slow] }]', 'h.yaml'));
    feed.publish(caption('CA1', 1, 'very slow'));
    feed.publish(ended('CA1'));
    feed.publish(caption('CA1', 2, 'slow'));
    feed.publish(caption('CA2', 1, 'slow, in a call that was not seen to begin'));
    expect(hints.map(({ hint }) => hint)).toEqual(['card:New']);
    feed.publish(started('CA3'));
    cards.close();
    feed.publish(caption('CA3', 1, 'slow'));
    expect(hints).toHaveLength(1);
  });

  it('are not shown beside calls that want none, and at most 200 times beside one', () => {
    const none = open(() => false);
    none.feed.publish(caption('CA1', 1, 'very slow'));
    expect(none.hints).toEqual([]);
    const { feed, hints } = open();
    for (let n = 1; n <= 300; n++) feed.publish(caption('CA1', n, 'card'));
    expect(hints).toHaveLength(200);
  });
});
