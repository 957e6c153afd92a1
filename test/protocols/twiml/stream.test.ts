import fc from 'fast-check';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { connectStreamTwiml, listenAndDialTwiml } from '../../../src/protocols/twiml/stream.ts';

const URL = 'wss://bridge.example.com/twilio/media';

describe('TwiML', () => {
  it('connects a call to its stream, with parameters', () => {
    expect(connectStreamTwiml({ url: URL, parameters: { from: '+15005550006', token: 'a1' } })).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="wss://bridge.example.com/twilio/media">' +
        '<Parameter name="from" value="+15005550006"/><Parameter name="token" ' +
        'value="a1"/></Stream></Connect></Response>',
    );
  });

  it('listens to both sides of a call that goes on to a number', () => {
    expect(listenAndDialTwiml({ url: URL, parameters: {} }, '+15005550001')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Start><Stream ' +
        'url="wss://bridge.example.com/twilio/media" track="both_tracks"></Stream></Start>' +
        '<Dial>+15005550001</Dial></Response>',
    );
  });

  it('says what the twilio package says, for any ordinary text (but for >, which it leaves as it is)', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'é', '😀', '&', '<', '"', ' ', '+'),
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(word, word, (name, value) => {
        const response = new twilio.twiml.VoiceResponse();
        response.connect().stream({ url: URL }).parameter({ name, value });
        expect(connectStreamTwiml({ url: URL, parameters: { [name]: value } })).toBe(response.toString());
      }),
    );
  });

  it('leaves no way out of an attribute, and holds nothing that XML cannot', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (value) => {
        const [, attribute = ''] =
          /value="([^"]*)"\/><\/Stream><\/Connect>/.exec(connectStreamTwiml({ url: URL, parameters: { x: value } })) ??
          [];
        const text = attribute.replace(/&(amp|lt|gt|quot|apos|#9|#10|#13);/g, '');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
        expect(text).not.toMatch(/[<>&"'\u0000-\u001f\ufffe\uffff]|\p{Surrogate}/u);
      }),
    );
    expect(connectStreamTwiml({ url: URL, parameters: { x: 'a\u0000b\ud800c\n' } })).toContain(
      'value="a\ufffdb\ufffdc&#10;"',
    );
  });

  it('takes parameters of up to 499 characters, name and value together', () => {
    expect(() => connectStreamTwiml({ url: URL, parameters: { name: 'v'.repeat(495) } })).not.toThrow();
    expect(() => connectStreamTwiml({ url: URL, parameters: { name: 'v'.repeat(496) } })).toThrow(TrunklineError);
    expect(() => listenAndDialTwiml({ url: URL, parameters: { name: 'v'.repeat(496) } }, '1')).toThrow(
      '4 + 496 characters, expected fewer than 500',
    );
  });
});
