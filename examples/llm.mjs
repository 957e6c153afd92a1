/**
 * A language model on the line: any server with OpenAI's chat endpoint, its tokens spoken as they come. An interruption
 * stops the model, and it remembers only what the caller heard.
 *
 *   BASE_URL=https://api.openai.com/v1 API_KEY=… MODEL=gpt-4o-mini node examples/llm.mjs
 *   APP_URL=ws://127.0.0.1:9000 npm start
 */
import { WebSocketServer } from 'ws';

const {
  HOST = '127.0.0.1',
  PORT = '9000',
  BASE_URL = 'http://127.0.0.1:11434/v1',
  API_KEY = '',
  MODEL = 'llama3.2',
} = process.env;
const INSTRUCTIONS =
  'You talk to a caller on the telephone. Answer in one or two short sentences of plain text: no lists, no markup.';
const MESSAGES_MAX = 40;

const server = new WebSocketServer({ host: HOST, port: Number(PORT) });
server.on('listening', () => console.log(`listening on ws://${HOST}:${server.address().port}`));
server.on('error', ({ code, message }) => {
  const taken =
    `port ${PORT} of ${HOST} is taken: end what listens there, or choose another, as in PORT=9001 node ` +
    'examples/llm.mjs';
  console.error(code === 'EADDRINUSE' ? taken : `cannot listen on port ${PORT} of ${HOST}: ${message}`);
  process.exit(1);
});

/** The model's answer to `messages`, token by token. */
async function* chat(messages, signal) {
  const response = await fetch(`${BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` },
    body: JSON.stringify({
      model: MODEL,
      stream: true,
      messages: [{ role: 'system', content: INSTRUCTIONS }, ...messages],
    }),
    signal,
  });
  if (!response.ok) throw new Error(`the model's server answered ${response.status}: ${await response.text()}`);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const token = JSON.parse(line.slice('data: '.length)).choices?.[0]?.delta?.content;
      if (token) yield token;
    }
  }
}

server.on('connection', (socket) => {
  const say = (token, last = false) => socket.send(JSON.stringify({ type: 'text', token, last }));
  let messages = [];
  let answering = new AbortController();

  async function answer(content) {
    answering.abort();
    const current = new AbortController();
    answering = current;
    messages = [...messages, { role: 'user', content }].slice(-MESSAGES_MAX);
    const reply = { role: 'assistant', content: '' };
    try {
      for await (const token of chat([...messages], current.signal)) {
        if (current.signal.aborted) break;
        if (reply.content === '') messages.push(reply);
        reply.content += token;
        say(token);
      }
    } catch (error) {
      if (!current.signal.aborted) {
        console.error(error);
        say('Sorry, I cannot think right now.');
      }
    }
    say('', true);
  }

  socket.on('close', () => answering.abort());
  socket.on('message', (data) => {
    const frame = JSON.parse(data);
    if (frame.type === 'setup') say('Hello! What can I do for you?', true);
    if (frame.type === 'prompt' && frame.last) void answer(frame.voicePrompt);
    if (frame.type === 'error') console.error(frame.description);
    if (frame.type !== 'interrupt') return;
    answering.abort();
    if (messages.at(-1)?.role !== 'assistant') return;
    messages.pop();
    const heard = frame.utteranceUntilInterrupt;
    if (heard !== '') messages.push({ role: 'assistant', content: heard });
  });
});
