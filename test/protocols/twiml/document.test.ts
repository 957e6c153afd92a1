import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { readTwiml, verbsOf } from '../../../src/protocols/twiml/document.ts';

const URL = 'https://app.example.com/voice/start?x=1';
const verbs = (inside: string) =>
  verbsOf(readTwiml(`<?xml version="1.0" encoding="UTF-8"?>\n<Response>${inside}</Response>`, URL));

describe('a ConversationRelay of a document', () => {
  it("is read as Twilio's own library writes it", () => {
    const response = new twilio.twiml.VoiceResponse();
    const connect = response.connect({ action: '/after?a=1&b=2', method: 'GET' });
    const relay = connect.conversationRelay({
      url: 'wss://app.example.com/calls/CA1?token=x&y',
      welcomeGreeting: 'Hi "you" & <me>',
      voice: 'Charlie-flash_v2_5',
      dtmfDetection: true,
      interruptible: 'any',
      hints: 'a,b',
    });
    relay.parameter({ name: 'customer', value: 'Jürgen' });
    relay.parameter({ name: 'voice', value: 'own' });
    relay.language({ code: 'sv-SE', voice: 'sv-voice', ttsProvider: 'Google' });
    relay.language({ code: 'multi' });
    expect(verbsOf(readTwiml(response.toString(), URL))).toEqual([
      {
        type: 'relay',
        relay: {
          url: 'wss://app.example.com/calls/CA1?token=x&y',
          attributes: {
            url: 'wss://app.example.com/calls/CA1?token=x&y',
            welcomegreeting: 'Hi "you" & <me>',
            voice: 'Charlie-flash_v2_5',
            dtmfdetection: 'true',
            interruptible: 'any',
            hints: 'a,b',
          },
          parameters: { customer: 'Jürgen', voice: 'own' },
          voices: { 'sv-se': 'sv-voice' },
          action: { url: 'https://app.example.com/after?a=1&b=2', method: 'GET' },
        },
      },
    ]);
  });

  it('may spell its attributes in any case, be of ws, and have no action', () => {
    expect(verbs('<Connect><ConversationRelay URL="ws://h/p" WelcomeGreeting="Hi"/></Connect>')).toMatchObject([
      { relay: { url: 'ws://h/p', attributes: { welcomegreeting: 'Hi' }, action: null } },
    ]);
  });

  it.each(['', 'url=""', 'url="https://h/p"', 'url="/calls"', 'url="wss://h/p#f"'])(
    'is none that could be dialled with %s',
    (attributes) => {
      expect(verbs(`<Connect><ConversationRelay ${attributes}/></Connect>`)).toEqual([
        { type: 'other', name: 'Connect', takesCall: true },
      ]);
    },
  );
});

describe('the verbs of a document', () => {
  it('come in their order, with what Twilio takes where nothing is said', () => {
    expect(
      verbs(`<!-- hello -->
        <Say voice="alice" language="en-GB" loop="2">One <emphasis>two</emphasis> &amp; three</Say>
        <Play>/sounds/a.wav</Play><Play loop="0">https://b.example.com/b.wav</Play><Play digits="1wW#"/>
        <Pause/><Pause length="3"/><Pause length="99999999999999999999"/>
        <Redirect method="get">next</Redirect><Hangup/><Reject reason="busy"/>`),
    ).toEqual([
      { type: 'say', text: 'One two & three', voice: 'alice', language: 'en-GB', loop: 2 },
      { type: 'play', url: 'https://app.example.com/sounds/a.wav', loop: 1 },
      { type: 'play', url: 'https://b.example.com/b.wav', loop: 1000 },
      { type: 'digits', digits: '1www#', loop: 1 },
      { type: 'pause', lengthMs: 1000 },
      { type: 'pause', lengthMs: 3000 },
      { type: 'pause', lengthMs: 300_000 },
      { type: 'redirect', link: { url: 'https://app.example.com/voice/next', method: 'GET' } },
      { type: 'hangup' },
      { type: 'hangup' },
    ]);
  });

  it.each([
    ['<Dial><Client>ann</Client></Dial>', 'Dial', true],
    ['<Dial><Number>1</Number><Number>2</Number></Dial>', 'Dial', true],
    ['<Dial/>', 'Dial', true],
    [`<Dial>${'1'.repeat(257)}</Dial>`, 'Dial', true],
    ['<Gather action="/x"><Say>Press</Say></Gather>', 'Gather', true],
    ['<Connect><Stream url="wss://h/p"/></Connect>', 'Connect', true],
    ['<Start><Stream url="wss://h/p"/></Start>', 'Start', false],
    ['<Redirect>javascript:alert(1)</Redirect>', 'Redirect', false],
    ['<Play>file:///etc/passwd</Play>', 'Play', false],
    [`<${'x'.repeat(100)}/>`, 'x'.repeat(40), false],
  ])('that cannot be done are named: %s', (inside, name, takesCall) => {
    expect(verbs(inside)).toEqual([{ type: 'other', name, takesCall }]);
  });

  it.each([
    ['<Dial> 600 </Dial>', { to: '600', from: null, timeoutMs: 30_000, action: null }],
    [
      '<Dial timeout="20" callerID="+1" action="over" method="get"><Number url="/w">+1 (415) 555-0100</Number></Dial>',
      {
        to: '+1 (415) 555-0100',
        from: '+1',
        timeoutMs: 20_000,
        action: { url: 'https://app.example.com/voice/over', method: 'GET' },
      },
    ],
    [
      '<Dial timeout="1" callerId=""><Sip>sips:a@b.example</Sip></Dial>',
      { to: 'sips:a@b.example', from: null, timeoutMs: 5000, action: null },
    ],
    [
      '<Dial timeout="9999"><Sip>a@b.example</Sip></Dial>',
      { to: 'sip:a@b.example', from: null, timeoutMs: 600_000, action: null },
    ],
  ])('say who is called: %s', (inside, dial) => {
    expect(verbs(inside)).toEqual([{ type: 'dial', dial }]);
  });

  it.each(['', ' \n', '<Response/>', '\ufeff<Response></Response>'])('are none in %j', (text) => {
    expect(verbsOf(readTwiml(text, URL))).toEqual([]);
  });
});

describe('what is no TwiML', () => {
  it.each([
    ['a page', '<html><body><p>Not found</body></html>', /no well-formed XML at line 1/],
    ['a text', 'OK', /no well-formed XML/],
    ['JSON', '{"error":"x"}', /no well-formed XML/],
    ['another root', '<Answer/>', /root element is not <Response>/],
    ['half a document', '<Response><Say>Hello', /no well-formed XML/],
    [
      'an entity of its own',
      '<!DOCTYPE r [<!ENTITY a "aaaa">]><Response><Say>&a;</Say></Response>',
      /has a document type/,
    ],
    ['a file', '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><Response>&a;</Response>', /has a document type/],
    ['an unknown entity', '<Response><Say>&nbsp;</Say></Response>', /no well-formed XML/],
    ['a large document', `<Response>${' '.repeat(65_536)}</Response>`, /characters, expected at most 65536/],
    ['a deep one', `<Response>${'<Say>'.repeat(20)}${'</Say>'.repeat(20)}</Response>`, /nested more than 10 deep/],
    ['one of many verbs', `<Response>${'<Pause/>'.repeat(500)}</Response>`, /more than 500 elements/],
  ])('is refused: %s', (_what, text, message) => {
    expect(() => readTwiml(text, URL)).toThrow(message);
  });
});
