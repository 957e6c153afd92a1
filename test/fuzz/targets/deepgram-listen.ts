import assert from 'node:assert/strict';
import { readClientMessage } from '../../../src/clients/deepgram/wire/client-messages.ts';
import { FluxAnswers } from '../../../src/clients/deepgram/wire/flux-answers.ts';
import { ListenAnswers } from '../../../src/clients/deepgram/wire/listen-answers.ts';
import { readFluxQuery, readListenQuery } from '../../../src/clients/deepgram/wire/listen-query.ts';
import type { Query } from '../../../src/clients/deepgram/wire/parameters.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** It is sent back to the client, and counted. */
const MESSAGE_MAX_CHARS = 400;
const MODEL = { name: 'moonshine-tiny', version: '1', arch: 'moonshine' };

/** The address of a stream, one text message to it, and the same bytes as what is said. */
export const target: FuzzTarget = {
  name: 'deepgram-listen',
  seeds: [
    'model=nova-3&encoding=linear16&sample_rate=16000&channels=1&endpointing=25&vad_events=true&keyterm=a&keyterm=b:2',
    'encoding=mulaw&multichannel=true&channels=2&interim_results=true&utterance_end_ms=1000&language=multi',
    'model=flux-general-en&eager_eot_threshold=0.4&eot_threshold=0.7&eot_timeout_ms=5000',
    '{"type":"KeepAlive"}',
    '{"type":"Finalize","channel":0}',
    '{"type":"CloseStream"}',
    '{"type":"Configure","keyterms":["Trunkline"],"features":{"punctuate":true},"thresholds":{"eager_eot_threshold":1}}',
    'Hello, world. “Yes”! 50% — ok?',
  ].map((text) => Buffer.from(text)),
  words: ['endpointing=false', 'call=', '__proto__=', '"channel":1e999', '"keyterm":[1]', 'sample_rate=9e9', '%00'],
  run(input) {
    const text = Buffer.from(input).toString();
    const listen = unlessRefused(() => readListenQuery(queryOf(text)));
    const flux = unlessRefused(() => readFluxQuery(queryOf(text)));
    const message = unlessRefused(() => readClientMessage(text));
    for (const audio of [listen?.audio, flux?.audio])
      if (audio) assert(audio.rateHz >= 8000 && audio.rateHz <= 48_000 && audio.channels >= 1 && audio.channels <= 8);
    for (const name of [listen?.passedOver, flux?.passedOver].flatMap((names) => names ?? []))
      assert.match(name, /^[A-Za-z][\w.-]{0,39}$/);
    assert(message?.type !== 'Configure' || message.refused.length <= 10);
    for (const said of tellAll(text)) assert.equal(JSON.parse(JSON.stringify(said)).type, said.type);
  },
};

function tellAll(text: string): { readonly type: string }[] {
  const said = { text, final: false, startMs: 0, endMs: text.length, words: [{ text, startMs: 0, endMs: 1 }] };
  const settled = { ...said, final: true };
  const facts = { requestId: 'id-1', model: MODEL, channels: 1, isPunctuated: text.length % 2 === 0 };
  const asked = { facts, interimResults: true, vadEvents: true, endpointMs: 400, utteranceEndMs: 1000 };
  const listen = new ListenAnswers(asked);
  const flux = new FluxAnswers({ requestId: 'id-1', eagerThreshold: 0.4, threshold: 0.7, isMultilingual: true });
  listen.onSpeechStopped(0, text.length);
  return [
    ...listen.onSaid(0, said),
    ...listen.onSaid(0, settled),
    ...listen.onFlushed(text.length),
    ...listen.advance(text.length + 5000),
    ...flux.onSaid(said, 1),
    ...flux.onPaused(said, 1),
    ...flux.onSaid(settled, 1),
    ...flux.onTurnEnded(),
  ];
}

/** Repeated names as lists, as the server has them. */
function queryOf(text: string): Query {
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  return query;
}

function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert(error instanceof TrunklineError && ['invalid_request', 'message_malformed'].includes(error.code));
    assert(error.message.length <= MESSAGE_MAX_CHARS);
    return null;
  }
}
