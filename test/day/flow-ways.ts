/** How the callers of a day go through the flow `shop` of dialplans/ivr. */
import type { FeedEvent, FlowOutcome } from '../../src/calls/feed/events.ts';
import type { Conversation } from './conversation.ts';
import type { Random } from './people.ts';

/** The flow and its version: what a call of the day began with. */
const FLOW = 'shop';
const VERSION = '3f9c01ab';

type Moment =
  | { readonly step: string; readonly verb: string; readonly says?: string; readonly by?: 'key' | 'failed' }
  | { readonly key: string; readonly match: string | null }
  | { readonly heard: string; readonly match: string | boolean | null }
  | { readonly silent: true };

interface Way {
  /** Of a hundred callers. */
  readonly share: number;
  readonly moments: readonly Moment[];
  readonly outcome: FlowOutcome;
}

const HOURS: Moment = { step: 'hours', verb: 'hours' };
const WELCOME: Moment = { step: 'welcome', verb: 'say', says: "Welcome to Miller's Bicycles." };
const MENU: Moment = {
  step: 'menu',
  verb: 'menu',
  says:
    'For our opening hours, press 1 or say hours. For repairs, press 2 or say repairs. ' +
    'To talk to somebody, press 0.',
};
const TELL_HOURS: Moment = {
  step: 'tellHours',
  verb: 'say',
  says:
    'We are open on weekdays from 9 to half past 12 and from half past 1 to 6, on Thursdays until 8, and on ' +
    'Saturdays from 10 to 2.',
};
const REPAIRS: Moment = {
  step: 'repairs',
  verb: 'say',
  says: 'Bring your bicycle any morning, and you have it back the next day. A check costs 45 dollars.',
};
const MORE: Moment = { step: 'more', verb: 'confirm', says: 'Can I help you with anything else?' };
const NO: Moment = { heard: 'No, thank you.', match: false };
const YES: Moment = { heard: 'Yes, please.', match: true };
const GOODBYE: Moment = { step: 'goodbye', verb: 'hangup', says: 'Thank you for calling. Goodbye.' };
const PERSON: Moment = {
  step: 'person',
  verb: 'transfer',
  says: 'One moment, please. I am putting you through.',
};
const NOBODY: Moment = { step: 'nobody', verb: 'say', says: 'I am sorry, everybody is busy.', by: 'failed' };
const VOICEMAIL: Moment = {
  step: 'voicemail',
  verb: 'record',
  says: 'Please leave a message after the tone. Press pound when you are done.',
};
const THANKS: Moment = {
  step: 'thanks',
  verb: 'hangup',
  says: 'Thank you for your message. We will call you back. Goodbye.',
};
const OPEN = [HOURS, WELCOME, MENU];
const BY_KEY: Moment = { ...PERSON, by: 'key' };
const MESSAGE: Moment = { heard: 'Please call me back about my repair.', match: null };

const WAYS: readonly Way[] = [
  { share: 18, moments: [...OPEN, { key: '1', match: 'hours' }, TELL_HOURS, MORE, NO, GOODBYE], outcome: 'done' },
  {
    share: 14,
    moments: [...OPEN, { heard: 'When are you open?', match: 'hours' }, TELL_HOURS, MORE, NO, GOODBYE],
    outcome: 'done',
  },
  {
    share: 11,
    moments: [...OPEN, { heard: 'My bike is broken.', match: 'repairs' }, REPAIRS, MORE, NO, GOODBYE],
    outcome: 'done',
  },
  { share: 8, moments: [...OPEN, { key: '2', match: 'repairs' }, REPAIRS, MORE, NO, GOODBYE], outcome: 'done' },
  {
    share: 5,
    moments: [
      ...OPEN,
      { key: '1', match: 'hours' },
      TELL_HOURS,
      MORE,
      YES,
      MENU,
      { key: '2', match: 'repairs' },
      REPAIRS,
    ],
    outcome: 'hangup',
  },
  { share: 14, moments: [...OPEN, { key: '0', match: 'person' }, PERSON], outcome: 'transferred' },
  {
    share: 4,
    moments: [
      ...OPEN,
      { heard: 'Do you have bicycles for children?', match: null },
      { heard: 'Somebody, please.', match: 'person' },
      PERSON,
    ],
    outcome: 'transferred',
  },
  {
    share: 3,
    moments: [...OPEN, { heard: 'It is about my order.', match: null }, { key: '7', match: null }],
    outcome: 'hangup',
  },
  { share: 3, moments: [...OPEN, { key: '1', match: 'hours' }, TELL_HOURS, MORE, BY_KEY], outcome: 'transferred' },
  {
    share: 5,
    moments: [...OPEN, { silent: true }, PERSON, NOBODY, VOICEMAIL, MESSAGE, THANKS],
    outcome: 'done',
  },
  { share: 9, moments: OPEN, outcome: 'hangup' },
  {
    share: 4,
    moments: [
      HOURS,
      { step: 'closed', verb: 'say', says: "Welcome to Miller's Bicycles. We are closed at the moment." },
      VOICEMAIL,
      MESSAGE,
      THANKS,
    ],
    outcome: 'done',
  },
  {
    share: 2,
    moments: [HOURS, { step: 'closed', verb: 'say' }, { ...VOICEMAIL, says: 'Please leave a message.' }],
    outcome: 'hangup',
  },
];

/** The flow goes through a call of `callId` in `conversation`. Returns how it ended. */
export function goThroughFlow(conversation: Conversation, callId: string, random: Random): FlowOutcome {
  const way = wayOf(random);
  const tell = (event: FeedEvent): void => conversation.tell(event);
  tell({ type: 'flow.started', callId, flow: FLOW, version: VERSION, atMs: conversation.nowMs });
  let at = '';
  for (const moment of way.moments) {
    if ('step' in moment) {
      at = moment.step;
      const by = moment.by === undefined ? {} : { by: moment.by };
      const step = { type: 'flow.step', callId, flow: FLOW, step: at, verb: moment.verb, ...by } as const;
      tell({ ...step, atMs: conversation.nowMs });
      if (moment.says !== undefined) conversation.speak(moment.says);
    } else answer(conversation, { callId, step: at }, moment);
  }
  const { outcome } = way;
  tell({ type: 'flow.ended', callId, flow: FLOW, outcome, step: at, reason: null, atMs: conversation.nowMs });
  return outcome;
}

function wayOf(random: Random): Way {
  let rest = random() * WAYS.reduce((sum, { share }) => sum + share, 0);
  const found = WAYS.find(({ share }) => {
    rest -= share;
    return rest < 0;
  });
  const [first] = WAYS;
  if (first === undefined) throw new Error('there is no way through the flow');
  return found ?? first;
}

function answer(
  conversation: Conversation,
  of: { readonly callId: string; readonly step: string },
  moment: Exclude<Moment, { readonly step: string }>,
): void {
  const isMessage = of.step === 'voicemail';
  if ('silent' in moment) conversation.nowMs += 6000;
  else if ('key' in moment) conversation.press(moment.key);
  else conversation.say('inbound', moment.heard);
  if (isMessage) return;
  const kind = 'silent' in moment ? 'none' : 'key' in moment ? 'keys' : 'speech';
  const text = 'silent' in moment ? null : 'key' in moment ? moment.key : moment.heard;
  const value = 'silent' in moment ? null : moment.match;
  const outcome = kind === 'none' ? 'noInput' : value === null ? 'noMatch' : 'match';
  const told = { type: 'flow.input', flow: FLOW, kind, outcome, text, value, atMs: conversation.nowMs } as const;
  conversation.tell({ ...told, ...of });
}
