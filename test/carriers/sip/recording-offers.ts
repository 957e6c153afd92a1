/** The INVITEs of fixtures/wire/siprec, and the calls that they are to become. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyIn, headerIn, request, type SipLine } from './line.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/wire/siprec');

interface Expected {
  readonly from: string | null;
  readonly to: string | null;
  readonly names: { readonly inbound: string | null; readonly outbound: string | null };
  /** The track of each stream that is taken. */
  readonly tracks: readonly ('inbound' | 'outbound')[];
  /** `m=` lines of our answer without the ports, and labels. */
  readonly answer: readonly string[];
  readonly codecs: readonly string[];
  readonly references: Readonly<Record<string, string>>;
}

const nobody = { inbound: null, outbound: null };

/** By the name of the file. */
export const OFFERS: Readonly<Record<string, Expected>> = {
  oracle: {
    from: '+14155550199',
    to: '9000',
    names: { inbound: null, outbound: 'Agent 9000' },
    tracks: ['outbound', 'inbound'],
    answer: ['RTP/AVP 0 16777227', 'RTP/AVP 0 16777228'],
    codecs: ['mulaw', 'mulaw'],
    references: { sessionId: 'c2Vzc2lvbi1vcmFjbGU=', ucid: '00FA080018803B69810C6D;encoding=hex' },
  },
  broadworks: {
    from: '+14155550199',
    to: '+14155550100',
    names: nobody,
    tracks: ['inbound'],
    answer: ['RTP/AVP 9 101 1'],
    codecs: ['g722'],
    references: {},
  },
  ribbon: {
    from: '4155550199',
    to: 'sales',
    names: nobody,
    tracks: ['inbound', 'outbound'],
    answer: ['RTP/AVP 8 97 10', 'RTP/AVP 8 97 20'],
    codecs: ['alaw', 'alaw'],
    references: { sessionId: '00FA0800705D4C5DCAAC41' },
  },
  cisco: {
    from: '7301',
    to: '7300',
    names: { inbound: null, outbound: 'Jürgen & Söhne' },
    tracks: ['inbound', 'outbound'],
    answer: ['RTP/AVP 0 101 1', 'RTP/AVP 0 101 2'],
    codecs: ['mulaw', 'mulaw'],
    references: {
      sessionId: 'kQNhKFdEEeeJ9tD/VsPGWA==',
      sipSessionId: 'e9fffff2020a598b86962867715db0cf;remote=cd0f7093d62c5f0697098fd69a4aa57b',
    },
  },
  'cisco-nbr': {
    from: 'src',
    to: 'recorder',
    names: nobody,
    tracks: ['inbound', 'outbound'],
    answer: ['RTP/AVP 0', 'RTP/AVP 0'],
    codecs: ['mulaw', 'mulaw'],
    references: {},
  },
  opensips: {
    from: '0771121212',
    to: '0760516936',
    names: { inbound: 'test_user;lang=en-US;id=22', outbound: null },
    tracks: ['inbound', 'outbound'],
    // The second stream prefers another codec, and takes that of the first.
    answer: ['RTP/AVP 0 101 1', 'RTP/AVP 0 101 2'],
    codecs: ['mulaw', 'mulaw'],
    references: {
      sessionId: '2+hKdGY+QvCKu8HYTdBouQ==',
      sipSessionId: '2d8abbf0769c66e15bb349f509693d60@192.0.2.239',
    },
  },
  sems: {
    from: '016190200',
    to: 'Extension-016190619',
    names: { inbound: null, outbound: 'Main Line 016190619' },
    tracks: ['inbound', 'outbound'],
    answer: ['RTP/AVP 8 a_leg', 'RTP/AVP 8 b_leg'],
    codecs: ['alaw', 'alaw'],
    references: { sessionId: 'ho9aUhEQTRS+31th7sHStA==' },
  },
  sonus: {
    from: '2249888500',
    to: '2249888012',
    names: { inbound: 'Extension 8500', outbound: null },
    tracks: ['outbound', 'inbound'],
    answer: ['RTP/AVP 0 1', 'RTP/AVP 0 2'],
    codecs: ['mulaw', 'mulaw'],
    references: {
      originalCallId: '2da553f7-a48b-1235-d6a2-5254003a4988',
      sessionId: 'MTQ3YzA3YzEtNjdkNy0xMA==',
      groupId: 'MTQ3YzA3YzAtNjdkNy0xMA==',
    },
  },
  avaya: {
    from: '+14155550199',
    to: 'agent1234',
    names: { inbound: 'External Customer', outbound: 'Agent 1234' },
    tracks: ['inbound'],
    answer: ['RTP/AVP 0 1'],
    codecs: ['mulaw'],
    references: {},
  },
  'broken-metadata': {
    from: 'src',
    to: 'recorder',
    names: nobody,
    tracks: ['inbound', 'outbound'],
    answer: ['RTP/AVP 0', 'RTP/AVP 0'],
    codecs: ['mulaw', 'mulaw'],
    references: {},
  },
};

/** The INVITE in a file, as it goes over the wire; `change` its text, whose lines end in LF, before. */
export function inviteOf(name: string, change: (text: string) => string = (text) => text): string {
  const text = change(readFileSync(join(FOLDER, `${name}.sip`), 'latin1'));
  const end = text.indexOf('\n\n');
  const head = text.slice(0, end).replaceAll('\n', '\r\n');
  const body = text.slice(end + 2).replaceAll('\n', '\r\n');
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A recording: our answer to its INVITE, and what ends its way there. */
export interface Recording {
  readonly answer: string;
  /** `To` with our tag. */
  readonly to: string;
  readonly callId: string;
}

/** Sends an INVITE, and the ACK of our answer with `ackBody`. */
export async function record(line: SipLine, invite: string, ackBody = ''): Promise<Recording> {
  await line.receive(invite);
  const answer = line.take().at(-1) ?? '';
  const [to, callId] = [headerIn(answer, 'To'), headerIn(answer, 'Call-ID')];
  const uri = 'sip:trunkline@198.51.100.1:5060';
  if (answer.startsWith('SIP/2.0 200'))
    await line.receive(request('ACK', { to, uri, callId, body: ackBody }).replace(/tag=peer/, `tag=${tagOf(answer)}`));
  return { answer, to, callId };
}

/** A request in the dialog of a recording. */
export function within(recording: Recording, method: string, options: Parameters<typeof request>[1] = {}): string {
  const { to, callId, answer } = recording;
  const uri = 'sip:trunkline@198.51.100.1:5060';
  return request(method, { to, callId, uri, ...options }).replace(/tag=peer/, `tag=${tagOf(answer)}`);
}

function tagOf(answer: string): string {
  return /tag=([^;\s]+)/.exec(headerIn(answer, 'From'))?.[1] ?? '';
}

/** What our answer says of each stream: protocol, formats and label; a refused one is `refused`. */
export function streamsIn(answer: string): string[] {
  const [, ...streams] = bodyIn(answer).split(/^m=audio /m);
  return streams.map((text) => {
    const [, port, formats = ''] = /^(\d+) (.*)\r\n/.exec(text) ?? [];
    const label = /^a=label:(.*)\r$/m.exec(text)?.[1];
    if (port === '0') return 'refused';
    return label === undefined ? formats : `${formats} ${label}`;
  });
}
