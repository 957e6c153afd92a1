/** Who a call is with, by events of one channel; the sessions are what a real Asterisk 22.10.1 told of a caller's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PartyEvent, readAriEvent } from '../../../../src/carriers/asterisk/wire/ari.ts';
import { type Assignment, ConnectedParty, endpointOf } from '../../../../src/carriers/asterisk/wire/connected-party.ts';
import type { CarrierEvent } from '../../../../src/protocols/dialect.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/wire/ari/sessions');
const NOBODY: Assignment = { agent: null, queue: null, name: null };
const PARTY_TYPES = ['bridged', 'connected', 'application', 'sent-on', 'named'];

type Told = { readonly variable: string; readonly value: string } | { readonly type: string };

function partyEvent(json: object): PartyEvent | null {
  const event = readAriEvent(JSON.stringify(json));
  return PARTY_TYPES.includes(event.type) ? (event as PartyEvent) : null;
}

/** An event of a channel in extension `exten`, whose other side is `line`. */
function told(about: Told, { exten = '610', line = ['', ''], app = ['Queue', 'support'] } = {}): PartyEvent | null {
  const [number, name] = line;
  const dialplan = { context: 'a', exten, priority: 1, app_name: app[0], app_data: app[1] };
  const channel = { id: '1.1', name: 'PJSIP/6001-00000001', state: 'Up', connected: { number, name }, dialplan };
  return partyEvent({ type: 'ChannelVarset', ...about, channel });
}

const bridged = (...peers: string[]) => ({ variable: 'BRIDGEPEER', value: peers.join(',') });

function newsOf(events: readonly (PartyEvent | null)[], given = NOBODY): CarrierEvent[] {
  const heard = events.filter((event) => event !== null);
  const [first] = heard;
  if (first === undefined) throw new Error('nothing is told');
  const unknown = { application: null, connectedName: null, connectedNumber: null };
  const party = new ConnectedParty({ ...first.channel, ...unknown }, given);
  return heard.flatMap((event) => party.observe(event));
}

function recorded(name: string): (PartyEvent | null)[] {
  const lines = readFileSync(join(FOLDER, name), 'utf8').trim().split('\n');
  return lines.map((line) => partyEvent(JSON.parse(line)));
}

function assigned(agent: string | null, queue: string | null, name: string | null, conference: string | null = null) {
  return { type: 'assigned', agent, queue, name, conference } as const;
}

const SECOND = assigned('6002', 'support', 'Second phone');
const THIRD = assigned('6003', 'support', 'Third phone');

describe('the party of a channel', () => {
  it('is the queue, the agent who answers, and after a blind transfer the next one', () => {
    expect(newsOf(recorded('queue-blind-transfer.jsonl'))).toEqual([
      assigned(null, 'support', null),
      SECOND,
      { type: 'transferred', by: 'asterisk', from: '6002', to: '6003', kind: 'blind' },
      THIRD,
    ]);
  });

  it('is another one after an attended transfer, whose name Asterisk tells a moment later', () => {
    expect(newsOf(recorded('queue-attended-transfer.jsonl'))).toEqual([
      assigned(null, 'support', null),
      SECOND,
      { type: 'transferred', by: 'asterisk', from: '6002', to: '6003', kind: 'attended' },
      { ...THIRD, name: '6003' },
      THIRD,
    ]);
  });

  it('is given on warmly where all three were in the call', () => {
    const [a, b] = ['PJSIP/6002-00000002', 'PJSIP/6003-00000003'];
    const news = newsOf([told(bridged(a)), told(bridged(a, b)), told(bridged(b))]);
    expect(news.filter(({ type }) => type === 'transferred')).toEqual([
      { type: 'transferred', by: 'asterisk', from: '6002', to: '6003', kind: 'warm' },
    ]);
  });

  it('is no transfer where an agent hangs up and the dialplan or the queue finds another one', () => {
    const news = newsOf([
      told(bridged('PJSIP/6002-00000002')),
      told(bridged()),
      told(bridged('PJSIP/6003-00000003')),
      told(bridged('PJSIP/6003-00000003')),
    ]);
    expect(news.map((event) => (event.type === 'assigned' ? event.agent : event.type))).toEqual(['6002', '6003']);
  });

  it('is told of a blind transfer to what never answers, and comes back to the same agent', () => {
    const agent = 'PJSIP/6002-00000002';
    const news = newsOf([
      told(bridged(agent)),
      told({ variable: 'BLINDTRANSFER', value: agent }),
      told(bridged(agent)),
      told(bridged()),
      told({ type: 'ChannelDialplan' }, { exten: '699', app: ['VoiceMail', '6002'] }),
      told({ type: 'ChannelDialplan' }, { exten: '610' }),
      told(bridged('PJSIP/6002-0000000a')),
      told(bridged()),
      told(bridged('PJSIP/6004-0000000b')),
    ]);
    expect(news.filter(({ type }) => type === 'transferred')).toEqual([
      { type: 'transferred', by: 'asterisk', from: '6002', to: '699', kind: 'blind' },
    ]);
    expect(news.at(-1)).toMatchObject({ agent: '6004' });
  });

  it('is what the call was given first, and the name until it is given on', () => {
    const given = { agent: 'tom', queue: 'sales', name: 'Tom' };
    const news = newsOf([told(bridged('PJSIP/6002-00000002')), told(bridged('PJSIP/6003-00000003'))], given);
    expect(news).toEqual([expect.objectContaining({ type: 'transferred' }), assigned('tom', 'sales', '6003')]);
  });

  it('is what variables of the dialplan say, until it is given on', () => {
    const news = newsOf([
      told({ variable: '__TRUNKLINE_QUEUE', value: 'sales' }),
      told({ variable: 'TRUNKLINE_AGENT', value: 'ann' }),
      told({ variable: '_TRUNKLINE_AGENT_NAME', value: 'Ann' }),
      told(bridged('PJSIP/6002-00000002'), { line: ['6002', 'Second phone'] }),
      told(bridged('PJSIP/6003-00000003')),
    ]);
    expect(news.filter(({ type }) => type === 'assigned').slice(-2)).toEqual([
      assigned('ann', 'sales', 'Ann'),
      assigned('6003', 'sales', '6003'),
    ]);
  });

  it('is a conference, whose members come and go, and nobody of them is given the call', () => {
    const app = ['ConfBridge', 'team,,admin'];
    const [a, b, announcer] = ['PJSIP/6002-00000047', 'PJSIP/6003-00000048', 'CBAnn/team-00000007;2'];
    const news = newsOf([
      told({ type: 'ChannelDialplan' }, { app }),
      told(bridged(announcer, a), { app }),
      told(bridged(announcer, a, b), { app }),
      told(bridged(announcer, b), { app }),
      told({ type: 'ChannelDialplan' }, { app: ['Dial', 'PJSIP/6004'] }),
      told(bridged('PJSIP/6004-00000049'), { app: ['Dial', 'PJSIP/6004'] }),
    ]);
    expect(news).toEqual([
      assigned(null, null, 'team', 'team'),
      assigned(null, null, 'team'),
      assigned('6004', null, '6004'),
    ]);
  });

  it('is the agent himself on the channel that a queue or a Dial() made', () => {
    const event = told(bridged('PJSIP/6009-00000002'), {
      line: ['6009', 'Caller'],
      app: ['AppQueue', '(Outgoing Line)'],
    });
    if (event?.type !== 'bridged') throw new Error('not bridged');
    expect(new ConnectedParty(event.channel, NOBODY).observe(event)).toEqual([assigned('6001', null, 'Caller')]);
  });
});

describe('the endpoint of a channel', () => {
  it.each([
    ['PJSIP/6002-00000004', '6002'],
    ['PJSIP/my-trunk-0000001a', 'my-trunk'],
    ['Local/6003@from-phones-00000000;1', '6003'],
    ['SIP/alice-1', 'alice'],
    ['Snoop/1795525008.37-00000006', null],
    ['WebSocket/INCOMING/0x7fe7e4008710', null],
    ['nonsense', null],
  ])('of %s is %s', (name, endpoint) => expect(endpointOf(name)).toBe(endpoint));
});
