import assert from 'node:assert/strict';
import { readTwiml, verbsOf } from '../../../src/protocols/twiml/document.ts';
import { passOnTwiml } from '../../../src/protocols/twiml/passing.ts';
import { decodeXml, XmlError } from '../../../src/protocols/xml.ts';
import type { FuzzTarget } from '../fuzz.ts';

const URL_OF_DOCUMENT = 'https://app.example.com/voice';
const SEEDS = [
  '<?xml version="1.0" encoding="UTF-8"?><Response><Say voice="a" loop="2">Hello &amp; you</Say><Pause ' +
    'length="1"/><Hangup/></Response>',
  '<Response><Connect action="/x" method="GET"><ConversationRelay url="wss://h/c?a=1&amp;b" ' +
    'welcomeGreeting="Hi"><Language code="sv-SE" voice="v"/><Parameter name="a" ' +
    'value="b"/></ConversationRelay></Connect></Response>',
  '<Response><Play loop="0">a.wav</Play><Play digits="1wW"/><Redirect ' +
    'method="GET">/y</Redirect><Dial><Number url="/w">+1</Number></Dial></Response>',
  '<!DOCTYPE r [<!ENTITY a "b">]><Response>&a;&#60;<![CDATA[<x>]]></Response>',
];

/**
 * A document that an app answers: it is read or refused as XML, what is done for it is within bounds, and Twilio gets
 * what reads the same.
 */
export const target: FuzzTarget = {
  name: 'twiml',
  seeds: SEEDS.map((seed) => Buffer.from(seed)),
  words: [
    '<Response>',
    '</Response>',
    '<Say>',
    '<Connect>',
    '<ConversationRelay url="wss://h/"',
    '&lt;',
    '&#x0;',
    '<![CDATA[',
    ']]>',
    '<!--',
    '<?',
    '="',
    'xmlns:a=',
    '<?xml version="1.0" encoding="utf-16"?>',
  ],
  run(input) {
    let document: ReturnType<typeof readTwiml>;
    try {
      document = readTwiml(decodeXml(input), URL_OF_DOCUMENT);
    } catch (error) {
      assert(error instanceof XmlError, 'something else than XmlError was thrown');
      return;
    }
    const verbs = verbsOf(document);
    for (const verb of verbs) {
      if (verb.type === 'pause') assert(verb.lengthMs >= 0 && verb.lengthMs <= 300_000);
      if (verb.type === 'say' || verb.type === 'play') assert(verb.loop >= 1 && verb.loop <= 1000);
      if (verb.type === 'relay') assert.match(new URL(verb.relay.url).protocol, /^wss?:$/);
      if (verb.type === 'redirect') assert.match(new URL(verb.link.url).protocol, /^https?:$/);
    }
    const passed = passOnTwiml(document, {
      stream: () => ({ url: 'wss://bridge/media', parameters: {} }),
      after: 'https://bridge/after',
      through: (url) => url,
    });
    const again = verbsOf(readTwiml(passed, URL_OF_DOCUMENT));
    assert(
      again.every(({ type }) => type !== 'relay'),
      'a ConversationRelay was passed on',
    );
    assert.deepEqual(
      again.filter(({ type }) => type === 'say' || type === 'pause'),
      verbs.filter(({ type }) => type === 'say' || type === 'pause'),
    );
  },
};
