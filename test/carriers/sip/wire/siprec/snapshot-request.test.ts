import { expect, it } from 'vitest';
import { mergeMetadata, readMetadata } from '../../../../../src/carriers/sip/wire/siprec/metadata.ts';
import { isIncomplete, snapshotRequest } from '../../../../../src/carriers/sip/wire/siprec/snapshot-request.ts';

const metadata = (mode: 'complete' | 'partial', content: string) =>
  readMetadata(`<recording><datamode>${mode}</datamode>${content}</recording>`);
const ALICE = '<participant participant_id="alice"><nameID aor="sip:alice@h"/></participant>';
const known = metadata('complete', `${ALICE}<stream stream_id="s1"><label>1</label></stream>`);
const speaks = (who: string, stream: string) =>
  `<participantstreamassoc participant_id="${who}"><send>${stream}</send></participantstreamassoc>`;

it.each([
  ['tells of somebody who is known', speaks('alice', 's1'), false],
  ['describes somebody new', '<participant participant_id="eve"><nameID aor="sip:eve@h"/></participant>', false],
  ['describes a stream that it names', `${speaks('alice', 's2')}<stream stream_id="s2"/>`, false],
  ['says that somebody unknown has left', hasLeft('eve'), false],
  ['names somebody unknown', '<participantsessionassoc participant_id="eve"/>', true],
  ['names an unknown stream', speaks('alice', 's2'), true],
])('a partial update that %s', (_what, content, expected) => {
  expect(isIncomplete(known, metadata('partial', content))).toBe(expected);
});

function hasLeft(who: string): string {
  const gone = '<disassociate-time>x</disassociate-time>';
  return `<participantsessionassoc participant_id="${who}">${gone}</participantsessionassoc>`;
}

it('what comes first may be partial only where something is missing; what is complete misses nothing', () => {
  expect(isIncomplete(null, metadata('partial', ALICE))).toBe(true);
  expect(isIncomplete(null, metadata('complete', speaks('eve', 's9')))).toBe(false);
  expect(isIncomplete(mergeMetadata(known, metadata('complete', ALICE)), metadata('partial', ALICE))).toBe(false);
});

it('asks in the type of the RFC, or in that of the drafts where the peer names it', () => {
  expect(snapshotRequest(['application/sdp']).contentType).toBe('application/rs-metadata+xml');
  const drafts = ['application/sdp, application/rs-metadata, application/rs-metadata-request'];
  expect(snapshotRequest(drafts)).toMatchObject({
    contentType: 'application/rs-metadata-request',
    contentDisposition: 'recording-session',
  });
});
