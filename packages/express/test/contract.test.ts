import type { RequestListener } from 'node:http';
import { factuareaWebhook } from '@factuarea-webhook/express';
import { type AdapterSubject, adapterContract } from '@factuarea-webhook/testing';
import { contractApp, writeAnswer } from '@factuarea-webhook/testing/contract-app';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import express5 from 'express';
import express4 from 'express4';
import { start } from '../../node/test/support.ts';

const subject = (name: string, express: typeof express5): AdapterSubject => ({
  name,
  async start(config) {
    const contract = contractApp(config);
    const app = express();
    app.disable('x-powered-by');
    app.all('/handler', factuareaWebhook(contract.handlerOptions));
    app.post('/parsed', express.json(), factuareaWebhook(contract.handlerOptions));
    app.all('/middleware', factuareaWebhook(contract.middlewareOptions), (req, res, next) => {
      if (!req.factuarea) throw new Error('The route ran without a context.');
      // Express 4 does not wait for a promise, so a failure is handed on by hand.
      contract
        .route(req.factuarea)
        .then((answer) => writeAnswer(res, answer))
        .catch((error: unknown) => next(error ?? new Error('The route failed with nothing.')));
    });
    app.get('/contract/state', (_req, res) => {
      res.json(contract.state());
    });
    // Express's own error page goes to the console as well.
    app.use(((_error, _req, res, _next) => {
      res.status(500).send('failed');
    }) as express5.ErrorRequestHandler);
    const { port, close } = await start(app as unknown as RequestListener);
    return { url: `http://127.0.0.1:${port}`, close };
  },
});

const runner = { describe, test, beforeAll, afterAll };
adapterContract(subject('Express 4', express4 as unknown as typeof express5), runner);
adapterContract(subject('Express 5', express5), runner);
