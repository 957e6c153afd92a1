import { describe, expect, it } from 'vitest';
import { readTwiml } from '../../../src/protocols/twiml/document.ts';
import { passOnTwiml } from '../../../src/protocols/twiml/passing.ts';

/** The verbs of a document at /voice/start as Twilio gets them. */
function passed(inside: string): string {
  const document = readTwiml(`<Response>${inside}</Response>`, 'https://app.example.com/voice/start');
  const text = passOnTwiml(document, {
    stream: (relay) => ({ url: 'wss://bridge/media', parameters: { token: relay.url } }),
    after: 'https://bridge/after',
    through: (url, method) => `https://bridge/after?${method}=${url}`,
  });
  return /^<\?xml version="1.0" encoding="UTF-8"\?><Response>(.*)<\/Response>$/s.exec(text)?.[1] ?? text;
}

describe("an app's document on its way to Twilio", () => {
  it.each([
    '<Say voice="Polly.Joanna" language="en-US">Hello &amp; welcome <break time="1s"/></Say>',
    '<Dial timeout="10"><Number>+14155550100</Number></Dial>',
    '<Gather action="https://app.example.com/keys" ' +
      'numDigits="1"><Play>https://cdn.example.com/it&apos;s.mp3</Play></Gather>',
    '<Connect><Stream url="wss://other.example.com/media"/></Connect>',
    '<Pause length="2"/><Hangup/>',
  ])('is as it is: %s', (inside) => {
    expect(passed(inside)).toBe(inside);
  });

  it('streams to us where it has a ConversationRelay, and asks us what follows', () => {
    expect(
      passed('<Say>Hi</Say><Connect action="/done"><ConversationRelay url="wss://app/c"/></Connect><Say>Bye</Say>'),
    ).toBe(
      '<Say>Hi</Say><Connect><Stream url="wss://bridge/media"><Parameter name="token" ' +
        'value="wss://app/c"/></Stream></Connect>' +
        '<Redirect method="POST">https://bridge/after</Redirect><Say>Bye</Say>',
    );
  });

  it('goes on with its next verb behind a ConversationRelay without an action', () => {
    expect(passed('<Connect><ConversationRelay url="wss://app/c"/></Connect><Say>Bye</Say>')).toBe(
      '<Connect><Stream url="wss://bridge/media"><Parameter name="token" ' +
        'value="wss://app/c"/></Stream></Connect><Say>Bye</Say>',
    );
  });

  it.each([
    [
      '<Redirect>again</Redirect>',
      '<Redirect method="POST">https://bridge/after?POST=https://app.example.com/voice/again</Redirect>',
    ],
    [
      '<Redirect method="GET">/x</Redirect>',
      '<Redirect method="POST">https://bridge/after?GET=https://app.example.com/x</Redirect>',
    ],
    [
      '<Redirect Method=" get ">/x</Redirect>',
      '<Redirect method="POST">https://bridge/after?GET=https://app.example.com/x</Redirect>',
    ],
    ['<Play>a.mp3</Play>', '<Play>https://app.example.com/voice/a.mp3</Play>'],
    ['<Gather action="keys"/>', '<Gather action="https://app.example.com/voice/keys"/>'],
    [
      '<Dial recordingStatusCallback="/rec"><Number url="/whisper">+1</Number></Dial>',
      '<Dial recordingStatusCallback="https://app.example.com/rec"><Number ' +
        'url="https://app.example.com/whisper">+1</Number></Dial>',
    ],
  ])('has its relative addresses start from where it was: %s', (inside, expected) => {
    expect(passed(inside)).toBe(expected);
  });
});
