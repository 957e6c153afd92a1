/**
 * A web server that knows orders, for dialplans/ivr/order-status.yaml: GET /orders/482915.
 *
 *   node examples/orders.mjs
 *   FLOWS_DIR=dialplans/ivr OUTBOUND_ALLOW=flows=127.0.0.0/8 npm start
 */
import { createServer } from 'node:http';

const { HOST = '127.0.0.1', PORT = '9100' } = process.env;

/** The number of days from today as a date such as 2026-11-24. */
const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const ORDERS = {
  482915: () => ({ status: 'shipped', day: inDays(1), total: 'EUR 59.90' }),
  372614: () => ({ status: 'unpaid', day: null, total: 'EUR 12.50' }),
  526138: () => ({ status: 'packed', day: inDays(2), total: 'EUR 20.00' }),
};

const server = createServer((request, response) => {
  const [, number = ''] = /^\/orders\/(\d{1,20})$/.exec(request.url ?? '') ?? [];
  const order = ORDERS[number]?.();
  response.writeHead(order === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(order ?? { error: 'unknown order' }));
});
server.on('error', ({ code, message }) => {
  const taken =
    `port ${PORT} of ${HOST} is taken: end what listens there, or choose another, as in PORT=9101 node ` +
    'examples/orders.mjs';
  console.error(code === 'EADDRINUSE' ? taken : `cannot listen on port ${PORT} of ${HOST}: ${message}`);
  process.exit(1);
});
server.listen(Number(PORT), HOST, () => console.log(`listening on http://${HOST}:${server.address().port}`));
