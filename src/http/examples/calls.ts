/** Examples of calls and of what can be done in them. */
import type { Examples } from './example.ts';

const id = 'CA5ef8732a3c49700934481addd5ce1659';
const caption = {
  type: 'caption',
  callId: id,
  track: 'inbound',
  startMs: 1320,
  endMs: 3180,
  utterance: 1,
  stable: 'my order has not arrived',
  tail: '',
  text: 'my order has not arrived',
  final: true,
  lagMs: 212,
  confidence: 0.94,
};
const live = {
  id,
  carrier: 'twilio',
  from: '+14155550100',
  to: '+14155550199',
  names: { inbound: 'Ada', outbound: null },
  agent: null,
  queue: 'orders',
  app: null,
  flow: 'orders',
  flowVersion: '9c1f02ab',
  appLost: false,
  appMuted: false,
  state: 'live',
  phase: 'live',
  startedAt: '2026-11-24T09:30:00.000Z',
  endedAt: null,
  endReason: null,
  tracks: ['inbound', 'outbound'],
  lagMs: 212,
  worstLagMs: 341,
  durationMs: 18400,
  counts: { finals: 3, spoken: 2, keys: 0, gaps: 0 },
  handoffData: null,
  sip: null,
  outcome: null,
  tags: [],
  sound: 'recording',
};
const dialed = {
  ...live,
  id: 'out-4c1d7a20',
  carrier: 'sip',
  names: { inbound: null, outbound: null },
  queue: null,
  state: 'dialing',
  phase: 'ringing',
  tracks: [],
  lagMs: null,
  worstLagMs: null,
  durationMs: 0,
  counts: { finals: 0, spoken: 0, keys: 0, gaps: 0 },
  sound: null,
};
const ended = {
  ...live,
  state: 'ended',
  phase: null,
  endedAt: '2026-11-24T09:31:12.000Z',
  endReason: 'hangup',
  durationMs: 72000,
  sound: 'recorded',
};
const parameters = { from: '+14155550100', to: '200', callerName: 'Ada', queue: 'orders' };
const twilioForm = { CallSid: id, From: '+14155550100', To: '+14155550199', CallStatus: 'ringing' };

/** By `operationId`. */
export const callExamples: Examples = {
  listCalls: { response: { data: [live], next: null } },
  getCall: { response: live },
  createCall: {
    request: {
      to: '+14155550100',
      from: '+14155550199',
      timeoutMs: 30000,
      flow: 'reminder',
      parameters: { customer: '4711' },
    },
    response: { ...dialed, from: '+14155550199', to: '+14155550100', flow: 'reminder' },
  },
  updateCall: {
    request: { outcome: 'refund', tags: ['order', 'late'], retainDays: 90 },
    response: { ...ended, outcome: 'refund', tags: ['late', 'order'] },
  },
  endCall: { response: { id } },
  setCallApp: { request: { muted: true }, response: { id, appMuted: true } },
  sendCallKeys: { request: { digits: '1ww42#' }, response: { id } },
  sayInCall: {
    request: { text: 'One moment, please.', interruptible: 'none' },
    response: { utterance: '7d0f8a52-5a0e-4c6b-9a43-0d9f4a6a1f0e' },
  },
  interruptCall: {
    response: {
      interrupted: {
        utterance: '7d0f8a52-5a0e-4c6b-9a43-0d9f4a6a1f0e',
        text: 'One moment, please.',
        heardText: 'One moment,',
        playedMs: 640,
      },
    },
  },
  setCallRecording: { request: { state: 'paused' }, response: { id, state: 'paused' } },
  createCallNote: {
    request: { text: 'Wants to be called back after five.' },
    response: { note: '0f3d3c1e-7c9c-4b7f-8a63-3f0c0c7f5b11' },
  },
  createCallMark: { request: { label: 'complaint', atMs: 15200 }, response: { atMs: 15200 } },
  listCallMessages: {
    response: {
      data: [
        {
          message: 'message-1',
          flow: 'orders',
          step: 'mailbox',
          startMs: 21400,
          endMs: 34100,
          text: 'please call me back about my order',
        },
      ],
      next: null,
    },
  },
  listCallEvents: {
    response: {
      data: [
        {
          id: 'f11e4e5e-6649-41c2-ab75-7f6d46d249ee-1',
          event: {
            type: 'call.started',
            callId: id,
            carrier: 'twilio',
            from: '+14155550100',
            to: '+14155550199',
            names: { inbound: 'Ada', outbound: null },
            agent: null,
            queue: 'orders',
            startedAt: '2026-11-24T09:30:00.000Z',
            tracks: ['inbound', 'outbound'],
            app: null,
          },
        },
        { id: 'f11e4e5e-6649-41c2-ab75-7f6d46d249ee-6', event: caption },
        {
          id: 'f11e4e5e-6649-41c2-ab75-7f6d46d249ee-9',
          event: { type: 'call.ended', callId: id, reason: 'hangup', durationMs: 72000, handoffData: null },
        },
      ],
      next: null,
    },
  },
  getCallTranscript: {
    response: {
      data: [
        {
          kind: 'caption',
          track: 'inbound',
          speaker: 'Ada',
          startMs: 1320,
          endMs: 3180,
          utterance: 1,
          text: 'my order has not arrived',
          confidence: 0.94,
        },
        { kind: 'dtmf', track: 'inbound', speaker: 'Ada', startMs: 9100, endMs: 11300, digits: '4711' },
      ],
    },
  },
  exportCalls: { response: `${JSON.stringify({ ...ended, transcript: [] })}\n` },
  streamCaptions: {
    response: `id: f11e4e5e-6649-41c2-ab75-7f6d46d249ee-6\ndata: ${JSON.stringify(caption)}\n\n`,
  },
  listAuditEntries: {
    response: {
      data: [
        {
          position: 812,
          at: '2026-11-24T09:40:00.000Z',
          who: 'ann',
          role: 'supervisor',
          action: 'call.read',
          callId: id,
          detail: {},
        },
      ],
      next: null,
    },
  },
  startPhoneCall: { response: { callId: 'phone-5b1c2f7e', token: 'pK3v…' } },
  startDemoCall: { response: { callId: 'demo-1' } },
  announceAsteriskCall: {
    request: parameters,
    form: parameters,
    response: { callId: '40325ec2-5efd-4bd3-805f-53576e581d13' },
  },
  assistAsteriskCall: {
    request: { channel: 'PJSIP/200-00000012', names: { inbound: 'Ada', outbound: 'Ben' }, agent: 'ben' },
    response: { callId: 'PJSIP/200-00000012.1' },
  },
  answerTwilioCall: {
    form: twilioForm,
    response:
      '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Connect>' +
      '<Stream url="wss://bridge.example.com/twilio/media"><Parameter name="token" value="…"/></Stream>' +
      '</Connect></Response>',
  },
  continueTwilioCall: {
    form: { ...twilioForm, CallStatus: 'in-progress', DialCallStatus: 'no-answer' },
    response: '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Hangup/></Response>',
  },
};
