import { describe, expect, it } from 'vitest';
import {
  mergeMetadata,
  type RecordingMetadata,
  readMetadata,
} from '../../../../../src/carriers/sip/wire/siprec/metadata.ts';
import { recordedParties } from '../../../../../src/carriers/sip/wire/siprec/recorded-parties.ts';

const recording = (...elements: string[]): RecordingMetadata =>
  readMetadata(`<recording xmlns="urn:ietf:params:xml:ns:recording:1">${elements.join('')}</recording>`);
const participant = (id: string, more = ''): string =>
  `<participant participant_id="${id}">` +
  `<nameID aor="sip:${id}@h"><name>${id.toUpperCase()}</name></nameID>${more}</participant>`;
const stream = (id: string, label: string): string => `<stream stream_id="${id}"><label>${label}</label></stream>`;
const sends = (id: string, ...streams: string[]): string =>
  `<participantstreamassoc participant_id="${id}">` +
  `${streams.map((own) => `<send>${own}</send>`).join('')}</participantstreamassoc>`;
const leaves = (id: string): string =>
  `<participantsessionassoc participant_id="${id}">` +
  '<disassociate-time>2026-01-01</disassociate-time></participantsessionassoc>';

const TWO = [participant('ann'), participant('bob'), stream('s1', '1'), stream('s2', '2')];

/** Who calls whom, and on which stream the caller speaks. */
const who = (metadata: RecordingMetadata | null, ...labels: (string | null)[]) => {
  const { caller, callee, callerStream } = recordedParties(metadata, labels);
  return [caller.user, callee.user, callerStream];
};

describe('metadata', () => {
  it('are bounded, on one line and without what is not there', () => {
    const long = 'x'.repeat(300);
    const { participants, streams, sessionId } = recording(
      `<participant participant_id="a"><nameID aor="${long}"><name> two\n lines\u0007 </name></nameID></participant>`,
      '<participant><nameID aor="sip:nobody@h"/></participant>',
      '<stream stream_id="s"/>',
      '<stream><label>1</label></stream>',
    );
    expect(participants).toEqual([
      { id: 'a', aor: 'x'.repeat(256), name: 'two lines', isCaller: null, sends: null, hasLeft: null },
    ]);
    expect(streams).toEqual([{ id: 's', label: null }]);
    expect(sessionId).toBeNull();
  });

  it('change by updates: a partial one changes what it names, another one all', () => {
    const known = recording('<session session_id="x"/>', ...TWO, sends('ann', 's1'), sends('bob', 's2'));
    const partial = '<dataMode>Partial</dataMode>';
    const moved = mergeMetadata(known, recording(partial, participant('eve'), sends('eve', 's2'), leaves('bob')));
    expect(moved.sessionId).toBe('x');
    expect(moved.participants.map(({ id, sends: own, hasLeft }) => [id, own, hasLeft])).toEqual([
      ['ann', ['s1'], null],
      ['bob', ['s2'], true],
      ['eve', ['s2'], null],
    ]);
    expect(who(moved, '1', '2')).toEqual(['ann', 'eve', 0]);
    const named = mergeMetadata(moved, recording(partial, '<participant participant_id="ann"/>', stream('s1', '7')));
    expect(named.participants[0]).toMatchObject({ aor: 'sip:ann@h', name: 'ANN', sends: ['s1'] });
    expect(named.streams).toEqual([
      { id: 's1', label: '7' },
      { id: 's2', label: '2' },
    ]);
    expect(mergeMetadata(named, recording(participant('zoe'))).participants).toHaveLength(1);
    expect(mergeMetadata(null, recording(partial, participant('zoe'))).participants).toHaveLength(1);
  });

  it('do not grow without end', () => {
    let known = recording();
    for (let i = 0; i < 10; i++) {
      const more = Array.from({ length: 50 }, (_, k) => participant(`p${i}x${k}`) + stream(`s${i}x${k}`, 'l'));
      known = mergeMetadata(known, recording('<datamode>partial</datamode>', ...more));
    }
    expect([known.participants.length, known.streams.length]).toEqual([256, 256]);
  });
});

describe('the caller of a recorded call', () => {
  it.each<[string, RecordingMetadata | null, (string | null)[], unknown[]]>([
    ['speaks on the first stream where nothing is known', null, [null, null], [null, null, 0]],
    ['is told by labels', null, ['b_leg', 'a_leg'], [null, null, 1]],
    ['comes first', recording(...TWO), ['1', '2'], ['ann', 'bob', 0]],
    ['comes first though labels do not match', recording(...TWO), ['x', 'y'], ['ann', 'bob', 0]],
    [
      'is who sends the first stream',
      recording(...TWO, sends('ann', 's2'), sends('bob', 's1')),
      ['1', '2'],
      ['bob', 'ann', 0],
    ],
    [
      'is found by labels in another order',
      recording(...TWO, sends('ann', 's1'), sends('bob', 's2')),
      ['2', '1'],
      ['ann', 'bob', 1],
    ],
    [
      'is found where one label alone matches',
      recording(...TWO, sends('ann', 's1'), sends('bob', 's2')),
      ['x', '1'],
      ['bob', 'ann', 0],
    ],
    [
      'is who is marked',
      recording(
        participant('ann'),
        participant('bob', '<x:callingParty>TRUE</x:callingParty>'),
        stream('s1', '1'),
        stream('s2', '2'),
      ),
      ['1', '2'],
      ['bob', 'ann', 1],
    ],
    [
      'is the other one when one is marked as called',
      recording(participant('ann', '<callingParty>false</callingParty>'), participant('bob')),
      ['1', '2'],
      ['bob', 'ann', 1],
    ],
    [
      'is who the call is from',
      recording('<callData><fromhdr>"B" &lt;sip:bob@x&gt;;tag=1</fromhdr></callData>', ...TWO),
      ['1', '2'],
      ['bob', 'ann', 1],
    ],
    [
      'is the other one when the call is to somebody',
      recording('<callData><tohdr>&lt;sip:ann@x&gt;</tohdr></callData>', ...TWO),
      ['1', '2'],
      ['bob', 'ann', 1],
    ],
    [
      'is one of two on one stream',
      recording(...TWO, sends('ann', 's1'), sends('bob', 's1')),
      ['1'],
      ['ann', 'bob', 0],
    ],
    ['is the only one', recording(participant('ann'), stream('s1', '1')), ['1'], ['ann', null, 0]],
    ['has not left', recording(...TWO, participant('eve'), leaves('ann')), ['1', '2'], ['bob', 'eve', 0]],
  ])('%s', (_, metadata, labels, expected) => {
    expect(who(metadata, ...labels)).toEqual(expected);
  });

  it.each([
    ['sip:+14155550100;phone-context=x@h:5060;user=phone', '+14155550100'],
    ['sips:a%20b@h', 'a b'],
    ['tel:+14155550100;ext=2', '+14155550100'],
    ['+14155550100@192.0.2.1', '+14155550100'],
    ['Extension-12@h', 'Extension-12'],
    ['12', '12'],
    ['sip:anonymous@anonymous.invalid', null],
    ['sip:192.0.2.1', null],
    ['@', null],
    ['', null],
  ])('is named by %s as %s', (aor, user) => {
    const metadata = recording(`<participant participant_id="a"><nameID aor="${aor}"/></participant>`);
    expect(recordedParties(metadata, ['1']).caller).toEqual({ user, name: null });
  });
});
