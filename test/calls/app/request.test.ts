import type VoiceResponse from 'twilio/lib/twiml/VoiceResponse.js';
import { describe, expect, it } from 'vitest';
import { readAppRequest, withoutForbiddenApp } from '../../../src/calls/app/request.ts';
import { readSettings } from '../../helpers/settings.ts';

const APP = 'wss://app.example.com/calls';
const settings = readSettings({ APP_URL: APP, APP_ALLOWED_ORIGINS: 'wss://other.example.com' });
const ask = (parameters: Record<string, string>, environment: Record<string, string> = { APP_URL: APP }) =>
  readAppRequest(parameters, readSettings(environment));

/** Names as Twilio's own library has them: the compiler refuses one that is no attribute of `<ConversationRelay>`. */
const ATTRIBUTES: Partial<Record<keyof VoiceResponse.ConversationRelayAttributes, string>> = {
  welcomeGreeting: 'Hello!',
  welcomeGreetingInterruptible: 'none',
  partialPrompts: 'true',
  interruptible: 'dtmf',
  preemptible: 'true',
  reportInputDuringAgentSpeech: 'any',
  voice: 'slt',
  ttsLanguage: 'de-DE',
  transcriptionLanguage: 'en-GB',
  events: 'speaker-events tokens-played',
};

describe('what a stream asks of its app', () => {
  it('is nothing without an app', () => {
    expect(ask({}, {})).toBeNull();
  });

  it('is the app of the settings, unless it names one', () => {
    expect(ask({})?.url).toBe(APP);
    expect(ask({ app: 'wss://other.example.com/x' })?.url).toBe('wss://other.example.com/x');
  });

  it('has the defaults of ConversationRelay', () => {
    expect(ask({})).toEqual({
      url: APP,
      customParameters: {},
      greeting: '',
      greetingInterruptible: undefined,
      partialPrompts: false,
      interruptible: undefined,
      preemptible: false,
      reportDuringSpeech: 'none',
      voice: undefined,
      ttsLanguage: undefined,
      transcriptionLanguage: undefined,
      speakerEvents: false,
      tokensPlayed: false,
      answerEvents: false,
      voices: {},
      dtmf: true,
      guarded: false,
    });
  });

  const wanted = {
    url: APP,
    customParameters: { callReference: 'bar' },
    greeting: 'Hello!',
    greetingInterruptible: 'none',
    partialPrompts: true,
    interruptible: 'dtmf',
    preemptible: true,
    reportDuringSpeech: 'any',
    voice: 'slt',
    ttsLanguage: 'de-DE',
    transcriptionLanguage: 'en-GB',
    speakerEvents: true,
    tokensPlayed: true,
    answerEvents: false,
    voices: {},
    dtmf: true,
    guarded: false,
  };

  it("takes the attributes of Twilio's TwiML as parameters, and keeps them from the app", () => {
    expect(ask({ ...ATTRIBUTES, callReference: 'bar' })).toEqual(wanted);
  });

  it('takes them in any case, as some libraries write them', () => {
    const lower = Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [name.toLowerCase(), value]));
    expect(ask({ ...lower, callReference: 'bar' })).toEqual(wanted);
  });

  it('takes one language for both, and true and false for any and none', () => {
    expect(ask({ language: 'en-AU', interruptible: 'false', welcomeGreetingInterruptible: 'true' })).toMatchObject({
      ttsLanguage: 'en-AU',
      transcriptionLanguage: 'en-AU',
      interruptible: 'none',
      greetingInterruptible: 'any',
    });
  });

  it('passes over values that mean nothing', () => {
    expect(ask({ partialPrompts: 'perhaps', interruptible: 'often', events: 'debugging' })).toEqual(ask({}));
  });

  it('keeps a parameter with an odd name', () => {
    const parameters = Object.assign(Object.create(null), JSON.parse('{"__proto__":"x","constructor":"y"}'));
    expect(JSON.stringify(ask(parameters)?.customParameters)).toBe('{"__proto__":"x","constructor":"y"}');
  });

  it('greets and tells partials as the settings say', () => {
    expect(ask({}, { APP_URL: APP, APP_GREETING: 'Welcome.', APP_PARTIAL_PROMPTS: 'true' })).toMatchObject({
      greeting: 'Welcome.',
      partialPrompts: true,
    });
  });
});

describe('an app that a stream names', () => {
  const others = { callReference: 'bar' };

  it.each([
    ['at the origin of APP_URL', 'wss://app.example.com/other?x=1'],
    ['at an allowed origin', 'wss://other.example.com/'],
    ['with the port of its scheme', 'wss://other.example.com:443/'],
  ])('may be dialled %s', (_, app) => {
    expect(withoutForbiddenApp({ ...others, app }, false, settings)).toEqual({ ...others, app });
  });

  it.each([
    ['anywhere else', 'wss://evil.example.com/'],
    ['at another port', 'wss://other.example.com:8443/'],
    ['without encryption', 'ws://other.example.com/'],
    ['at a subdomain', 'wss://a.other.example.com/'],
    ['behind the name of an allowed one', 'wss://other.example.com@evil.example.com/'],
  ])('may not be dialled %s, unless the stream is trusted', (_, app) => {
    expect(withoutForbiddenApp({ ...others, app }, false, settings)).toEqual(others);
    expect(withoutForbiddenApp({ ...others, app }, true, settings)).toEqual({ ...others, app });
  });

  it.each(['https://app.example.com/', 'app', '', 'wss://app.example.com/#part'])(
    'may never be dialled as "%s"',
    (app) => {
      expect(withoutForbiddenApp({ ...others, app }, true, settings)).toEqual(others);
    },
  );

  it('does not slip in under a second spelling', () => {
    const parameters = {
      app: 'wss://app.example.com/',
      APP: 'wss://evil.example.com/',
      App: 'wss://evil.example.com/',
    };
    expect(withoutForbiddenApp(parameters, false, settings)).toEqual({ app: 'wss://app.example.com/' });
  });
});
