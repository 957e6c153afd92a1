/**
 * The examples as somebody tries them: each in a process of its own, behind a whole gateway with real models, called by
 * a simulated caller.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ExampleApp, startExample } from '../../src/cli/example.ts';
import { runBuiltCli } from '../helpers/cli.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { Conversation } from './conversation.ts';

let app: ExampleApp | undefined;
let gateway: GatewayProcess | undefined;
let model: Server | undefined;
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  await app?.stop();
  model?.closeAllConnections();
  model?.close();
  app = undefined;
  gateway = undefined;
});

async function call(example: string, environment: Readonly<Record<string, string>> = {}): Promise<Conversation> {
  app = await startExample(example, environment);
  gateway = await startGateway({ APP_URL: app.url });
  return Conversation.begin(gateway);
}

describe('the echo', () => {
  it('says back what it hears, is interrupted, and ends the call at goodbye', async () => {
    const conversation = await call('echo');
    expect(await conversation.spoken()).toMatchObject({ text: expect.stringMatching(/^Hello!/), interrupted: false });
    await conversation.say('The meeting is on Monday morning.');
    expect(await conversation.understood()).toMatch(/meeting.*Monday morning/i);
    expect(await conversation.spoken()).toMatchObject({
      text: expect.stringMatching(/^You said: .*Monday/),
      interrupted: false,
    });

    const interruption = 'No, I want to talk about the garden.';
    await conversation.rehearse(interruption);
    await conversation.say('Please tell me everything about the weather in the mountains this week.');
    await conversation.listen(1500);
    const said = conversation.say(interruption);
    const cut = await conversation.spoken();
    expect(cut).toMatchObject({ interrupted: true, heardText: expect.stringMatching(/^You said/) });
    expect(cut.heardText.length).toBeLessThan(cut.text.length);
    await said;
    expect(await conversation.spoken()).toMatchObject({
      text: expect.stringMatching(/^You said: .*garden/i),
      interrupted: false,
    });

    await conversation.say('Thank you, goodbye.');
    await conversation.feed.until((event) => event.type === 'call.ended' && event.reason === 'app');
    const report = await conversation.ended;
    expect(report).toMatchObject({ closeCode: 1000, warnings: [] });
    expect(report.received.clears).toBeGreaterThan(0);
    const heard = await conversation.transcribeWhatWasHeard();
    expect(heard).toMatch(/hello.*say something.*you said.*Monday morning.*you said.*garden.*good ?bye/is);
  });
});

describe('the menu', () => {
  it('is chosen from by keys, which cut it short, and hands over who wants a person', async () => {
    const conversation = await call('menu');
    await conversation.listen(2500);
    conversation.caller.sendDtmf('1');
    expect(await conversation.spoken()).toMatchObject({
      interrupted: true,
      heardText: expect.stringMatching(/^Welcome/),
    });
    expect(await conversation.spoken()).toMatchObject({
      text: expect.stringMatching(/^We are open/),
      interrupted: false,
    });
    conversation.caller.sendDtmf('0');
    expect(await conversation.spoken()).toMatchObject({ text: 'Please hold the line.', interrupted: false });
    expect(await conversation.ended).toMatchObject({ closeCode: 1000, warnings: [] });
    const view = async () => (await fetch(`${gateway?.url}/v1/calls/${conversation.caller.callSid}`)).json();
    // The socket closes first: a call has ended when its last final caption is out.
    await expect.poll(view).toMatchObject({ state: 'ended', handoffData: '{"reason":"the caller wants a person"}' });
    expect(await conversation.transcribeWhatWasHeard()).toMatch(/welcome.*open on week ?days.*hold the line/is);
  });
});

describe('the language model', () => {
  interface Chat {
    readonly messages: { readonly role: string; readonly content: string }[];
  }
  const chats: Chat[] = [];
  let aborted = 0;

  /** A chat endpoint that answers in tokens: the first time at length and without end, then in one sentence. */
  async function startModel(): Promise<string> {
    model = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      chats.push(JSON.parse(body) as Chat);
      const send = (content: string) =>
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (chats.length > 1) {
        for (const token of ['It', ' opens', ' at', ' nine', '.']) send(token);
        response.end('data: [DONE]\n\n');
        return;
      }
      for (const token of [
        'The library ',
        'is in the old town hall. ',
        'It has three floors and a garden behind the house. ',
      ])
        send(token);
      response.on('close', () => {
        aborted += 1;
      });
    }).listen(0, '127.0.0.1');
    await once(model, 'listening');
    return `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  }

  it('answers token by token, is stopped by an interruption, and remembers what was heard', async () => {
    const conversation = await call('llm', { BASE_URL: await startModel(), MODEL: 'stub', API_KEY: 'key' });
    expect(await conversation.spoken()).toMatchObject({ text: expect.stringMatching(/^Hello!/) });
    const interruption = 'And when does it open in the morning?';
    await conversation.rehearse(interruption);
    await conversation.say('Where is the library?');
    await conversation.listen(3000);
    const said = conversation.say(interruption);
    const cut = await conversation.spoken();
    expect(cut).toMatchObject({ interrupted: true, heardText: expect.stringMatching(/^The library is/) });
    await said;
    expect(await conversation.spoken()).toMatchObject({ text: 'It opens at nine.', interrupted: false });

    expect(aborted).toBe(1);
    const [system, question, answer, followUp] = chats[1]?.messages ?? [];
    expect([system?.role, question?.role, followUp?.role]).toEqual(['system', 'user', 'user']);
    expect(answer).toEqual({ role: 'assistant', content: cut.heardText });
    conversation.caller.hangup();
    await conversation.ended;
    expect(await conversation.transcribeWhatWasHeard()).toMatch(/library/i);
    expect(await conversation.transcribeWhatFollowed()).toMatch(/opens at (nine|9)/i);
  });
});

describe('the demo', () => {
  it('lets a caller talk with the echo for three turns, and cut in', async () => {
    const { code, out, err } = await runBuiltCli(['demo', '--talk'], {
      ASR_MODEL: 'moonshine-tiny',
      VAD_MODEL: 'silero',
      APP_URL: 'ws://127.0.0.1:9/',
    });
    expect([err, code]).toEqual(['', 0]);
    const lines = out.split('\n').filter((line) => /^ +0:\d\d /.test(line));
    const app = lines.filter((line) => line.includes('  App  ')).map((line) => line.replace(/^.* {2}App +/, ''));
    expect(app[1]).toMatch(/^You said: .*tickets/);
    expect(app[2]).toMatch(/^You said: .* \[.*week\.\]$/);
    expect(app[3]).toMatch(/^You said: .*garden/);
    expect(app[4]).toBe('Goodbye!');
    expect(lines.filter((line) => line.includes('  Caller  ')).length).toBe(4);
    expect(out).toMatch(/^Answers .*median \d+ ms/m);
  });
});
