/**
 * A menu: keys choose, a key cuts the announcement short, and whoever asks for a person is handed over.
 *
 *   node examples/menu.mjs
 *   APP_URL=ws://127.0.0.1:9000 npm start
 */
import { WebSocketServer } from 'ws';

const { HOST = '127.0.0.1', PORT = '9000' } = process.env;
const server = new WebSocketServer({ host: HOST, port: Number(PORT) });
server.on('listening', () => console.log(`listening on ws://${HOST}:${server.address().port}`));
server.on('error', ({ code, message }) => {
  const taken =
    `port ${PORT} of ${HOST} is taken: end what listens there, or choose another, as in PORT=9001 node ` +
    'examples/menu.mjs';
  console.error(code === 'EADDRINUSE' ? taken : `cannot listen on port ${PORT} of ${HOST}: ${message}`);
  process.exit(1);
});

const MENU =
  'For our opening hours, press 1. For the address, press 2. To talk to somebody, press 0. To hear this ' +
  'again, press star.';
const ANSWERS = {
  1: 'We are open on weekdays from 9:30 AM to 6 PM.',
  2: 'You find us at 12 Station Road, on the second floor.',
};

server.on('connection', (socket) => {
  const send = (frame) => socket.send(JSON.stringify(frame));
  const say = (token, interruptible = 'dtmf') => send({ type: 'text', token, last: true, interruptible });

  function choose(digit) {
    if (digit === '0') {
      say('Please hold the line.', 'none');
      // Whoever takes over the call finds this at GET /v1/calls/{id}.
      send({ type: 'end', handoffData: JSON.stringify({ reason: 'the caller wants a person' }) });
    } else if (digit === '*') say(MENU);
    else if (digit in ANSWERS) say(`${ANSWERS[digit]} Anything else? Press star for the menu.`);
    else say(`${digit} is not on the menu. ${MENU}`);
  }

  socket.on('message', (data) => {
    const frame = JSON.parse(data);
    if (frame.type === 'setup') say(`Welcome. ${MENU}`);
    if (frame.type === 'dtmf') choose(frame.digit);
    if (frame.type === 'prompt' && frame.last) say(`Please press a key. ${MENU}`);
    if (frame.type === 'error') console.error(frame.description);
  });
});
