/**
 * Says back what the caller says, until the caller says goodbye.
 *
 *   node examples/echo.mjs
 *   APP_URL=ws://127.0.0.1:9000 npm start
 */
import { WebSocketServer } from 'ws';

const { HOST = '127.0.0.1', PORT = '9000' } = process.env;
const server = new WebSocketServer({ host: HOST, port: Number(PORT) });
server.on('listening', () => console.log(`listening on ws://${HOST}:${server.address().port}`));
server.on('error', ({ code, message }) => {
  const taken =
    `port ${PORT} of ${HOST} is taken: end what listens there, or choose another, as in PORT=9001 node ` +
    'examples/echo.mjs';
  console.error(code === 'EADDRINUSE' ? taken : `cannot listen on port ${PORT} of ${HOST}: ${message}`);
  process.exit(1);
});

server.on('connection', (socket) => {
  const send = (frame) => socket.send(JSON.stringify(frame));
  const say = (token) => send({ type: 'text', token, last: true });

  socket.on('message', (data) => {
    const frame = JSON.parse(data);
    switch (frame.type) {
      case 'setup':
        say('Hello! Say something, and I say it back. You can interrupt me.');
        break;
      case 'prompt':
        if (!frame.last) break;
        if (/\bgood\W*bye?\b/i.test(frame.voicePrompt)) {
          say('Goodbye!');
          // The call ends when that was played.
          send({ type: 'end' });
        } else say(`You said: ${frame.voicePrompt}`);
        break;
      case 'interrupt':
        console.log(`interrupted after: ${frame.utteranceUntilInterrupt}`);
        break;
      case 'dtmf':
        say(`You pressed ${frame.digit}.`);
        break;
      case 'error':
        console.error(frame.description);
    }
  });
});
