const assert = (holds, what) => {
  if (!holds) throw new Error(what);
};

/** Receives one event for real: a genuine delivery, a repeat of it, and a tampered one. */
exports.receive = async ({ createReceiver, signDelivery }, { fetchHandler }) => {
  const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
  const body = '{"id":"0199d5a2-7c1e-7b3a-9f04-3a1d5c9e2b77","type":"invoice.sent","data":{"invoice":{"id":"1"}}}';
  const headers = { 'factuarea-signature': await signDelivery({ body, secret }) };
  const handled = [];
  const logger = { info() {}, warn() {}, error() {} };
  const handle = fetchHandler(createReceiver({ secret, logger, handler: (event) => handled.push(event.id) }));
  const send = async (text) => {
    const response = await handle(new Request('https://app.example/wh', { method: 'POST', headers, body: text }));
    return `${response.status} ${await response.text()}`;
  };
  const answers = [await send(body), await send(body), await send(body.replace('sent', 'paid'))];
  const wanted = ['200 {"code":"handled"}', '200 {"code":"repeat"}', '401 {"code":"invalid_signature"}'];
  assert(answers.join() === wanted.join(), `answered ${answers.join()}, not ${wanted.join()}`);
  assert(handled.length === 1, `handled ${handled.length} times`);
};
