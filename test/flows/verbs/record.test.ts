/** The step `record`: a message, what ends it, and who is told. */
import { describe, expect, it } from 'vitest';
import { MessageRecording } from '../../../src/calls/sound/message-recording.ts';
import type { FlowRequest } from '../../../src/flows/verbs/flow-world.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import { FlowCall } from '../run/flow-call.ts';

const flow = (fields: string) => `start: mail
variables: {name: null}
steps:
  mail: {record: {${fields}}, next: done}
  done: {say: "got {name}"}
  nothing: {say: "nothing"}`;

/** A voicemail: what it wrote, and the flow. */
class Mailbox {
  /** What the records were asked to send, and what had been told before. */
  readonly expected: unknown[][] = [];
  readonly asked: FlowRequest[] = [];
  readonly call: FlowCall;
  /** What was written of each message: from when, in ms of the message. */
  readonly written: { added: number[]; endMs: number | null }[] = [];
  #messages = 0;
  #message: MessageRecording | null = null;
  #atMs = 5000;

  constructor(fields: string, isTest = true) {
    const recording = {
      beginMessage: () => {
        const open = () => {
          const file: { added: number[]; endMs: number | null } = { added: [], endMs: null };
          this.written.push(file);
          return {
            add: (_channel: unknown, _samples: unknown, atMs: number) => void file.added.push(atMs),
            end: (durationMs: number) => {
              file.endMs = durationMs;
            },
          };
        };
        const message = new MessageRecording({ codec: MULAW_8K, startMs: this.#atMs, open });
        this.#message = message;
        return { callId: 'CA1', name: `message-${this.#messages + 1}`, message };
      },
      keepMessage: () => void this.#messages++,
    };
    const request = async (made: FlowRequest) => {
      this.asked.push(made);
      return { status: 200, body: '' };
    };
    this.call = new FlowCall(flow(fields), {
      call: { recording },
      context: {
        messageWebhooks: { expect: (...webhook) => void this.expected.push([...webhook, this.told.length]) },
      },
      world: isTest ? { request } : {},
    });
  }

  /** Sound comes for so long, whether the caller speaks or not. */
  async sound(ms: number): Promise<this> {
    for (let past = 0; past < ms; past += 100) {
      this.#message?.add(new Int16Array(800), this.#atMs);
      this.#atMs += 100;
      await this.call.wait(100);
    }
    return this;
  }

  async speak(ms: number): Promise<this> {
    this.call.app.onSpeech({ type: 'speech.started', atMs: this.#atMs });
    await this.sound(ms);
    this.call.app.onSpeech({ type: 'speech.stopped', atMs: this.#atMs });
    return this;
  }

  caption(utterance: number, text: string, startMs: number): void {
    const times = { startMs, endMs: startMs + 900, lagMs: 1 };
    const caption = { utterance, stable: text, tail: '', text, final: true } as const;
    this.call.app.onSpeech({ type: 'caption', ...caption, ...times });
  }

  get told(): unknown[] {
    return this.call.news.filter(({ type }) => type === 'flow.message');
  }
}

describe('a message', () => {
  it('begins after the beep, and ends with silence', async () => {
    const box = new Mailbox('prompt: "Leave a message.", into: name');
    await box.call.hear();
    expect(box.call.said).toEqual(['Leave a message.', 'beep']);
    await box.sound(1000);
    await box.speak(2000);
    await box.sound(3900);
    expect(box.told).toEqual([]);
    await box.sound(200);
    await box.call.hear();
    expect(box.call.said.at(-1)).toBe('got message-1');
    expect(box.told).toEqual([
      { type: 'flow.message', flow: 'shop', step: 'mail', message: 'message-1', startMs: 5000, endMs: 12_000 },
    ]);
    // Its sound is whole, though it became a message only when enough had been said.
    expect(box.written).toMatchObject([{ endMs: 7000 }]);
    expect(box.written[0]?.added.slice(0, 3)).toEqual([0, 100, 200]);
    expect(box.written[0]?.added.length).toBeGreaterThanOrEqual(69);
  });

  it.each([
    ['#', '', true],
    ['5', '', false],
    ['5', ', terminator: any', true],
    ['#', ', terminator: none', false],
    ['*', ', terminator: "*"', true],
  ])('with the key %s%s: over = %s', async (key, more, isOver) => {
    const box = new Mailbox(`into: name${more}`);
    await box.call.hear();
    await box.speak(1500);
    await box.call.press(key);
    expect(box.told).toHaveLength(isOver ? 1 : 0);
  });

  it('ends with its greatest length', async () => {
    const box = new Mailbox('into: name, maxMs: 3000');
    await box.call.hear();
    await box.speak(3100);
    expect(box.told).toMatchObject([{ endMs: 8000 }]);
  });

  it('that the caller ends by hanging up is one', async () => {
    const box = new Mailbox('into: name, webhook: "https://mail.example.com/new"');
    await box.call.hear();
    await box.speak(1500);
    box.caption(3, 'Call me back.', 5200);
    box.call.app.close();
    await box.call.settled();
    expect(box.told).toHaveLength(1);
    expect(box.written).toMatchObject([{ endMs: 1500 }]);
    expect(JSON.parse(box.asked[0]?.body ?? '')).toMatchObject({ text: 'Call me back.', message: 'message-1' });
  });

  it('of less than its shortest length is none, and nothing is written', async () => {
    const box = new Mailbox('into: name, empty: nothing');
    await box.call.hear();
    await box.speak(600);
    await box.sound(5000);
    await box.call.hear();
    expect([box.told, box.written, box.call.said.at(-1)]).toEqual([[], [], 'nothing']);
  });

  it.each([
    ['', true],
    [', transcript: false', false],
    [', transcript: words', true],
  ])('is told to a server by the records, which know before they are told of it (%s)', async (more, hasText) => {
    const box = new Mailbox(`webhook: "https://mail.example.com/{name}"${more}`, false);
    await box.call.hear();
    await box.speak(2000);
    await box.sound(4100);
    const target = { url: 'https://mail.example.com/', hasText };
    expect(box.expected).toEqual([['CA1', 'message-1', target, 0]]);
    expect([box.asked, box.told.length]).toEqual([[], 1]);
  });

  it.each([
    [', transcript: false', null],
    ['', 'Call me.'],
  ])('is told in a test at once, with its words as they were put right (%s)', async (more, text) => {
    const box = new Mailbox(`webhook: "https://mail.example.com/new"${more}`);
    await box.call.hear();
    box.caption(1, 'Before the beep.', 1000);
    await box.speak(2000);
    box.caption(2, 'Cull me.', 5100);
    const times = { startMs: 5100, endMs: 6000 };
    box.call.app.onSpeech({ type: 'revision', utterance: 2, first: 2, version: 2, text: 'Call me.', ...times });
    await box.sound(4100);
    expect(box.asked).toMatchObject([{ url: 'https://mail.example.com/new', method: 'POST' }]);
    expect(JSON.parse(box.asked[0]?.body ?? '')).toMatchObject({
      type: 'flow.message',
      callId: 'CA1',
      flow: 'shop',
      step: 'mail',
      from: '+15550100',
      startMs: 5000,
      text,
      sound: '/v1/calls/CA1/messages/message-1/sound',
    });
  });
});

describe('the words of a message', () => {
  const words = 'into: name, transcript: name';

  it('are in the variable, with those that come shortly after its end', async () => {
    const box = new Mailbox(words, false);
    await box.call.hear();
    await box.speak(2000);
    box.caption(2, 'Call me.', 5100);
    box.call.app.onSpeech({ type: 'speech.started', atMs: 7000 });
    await box.sound(1000);
    await box.call.press('#');
    await box.call.hear();
    expect([box.told.length, box.call.steps]).toEqual([1, ['mail']]);
    box.caption(3, 'At noon.', 7000);
    await box.call.hear();
    expect(box.call.said.at(-1)).toBe('got Call me. At noon.');
  });

  it('are null when they come too late, and the flow goes on', async () => {
    const box = new Mailbox(words, false);
    await box.call.hear();
    await box.speak(2000);
    await box.call.press('#');
    await box.call.wait(2900);
    expect(box.call.steps).toEqual(['mail']);
    await box.call.wait(200);
    await box.call.hear();
    box.caption(2, 'Call me.', 5100);
    expect([box.call.steps, box.call.said.at(-1)]).toEqual([['mail', 'done'], 'got ']);
  });

  it('are not waited for when the caller has left', async () => {
    const box = new Mailbox(words, false);
    await box.call.hear();
    await box.speak(2000);
    await box.call.press('#');
    box.call.app.close();
    await box.call.settled();
    expect(box.call.end).toBe('hangup in mail');
  });
});

describe('where nothing keeps sound', () => {
  it('there are no messages, and the log says why', async () => {
    const call = await new FlowCall(`${flow('into: name')}\nfailed: nothing`).hear();
    expect(call.said).toEqual(['nothing']);
    expect(call.logLines.join('')).toContain('DATA_DIR');
  });
});
