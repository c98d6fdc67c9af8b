import { createReceiver } from '@factuarea-webhook/core';
import { nodeHandler, nodeMiddleware } from '@factuarea-webhook/node';
import { type AdapterSubject, adapterContract } from '@factuarea-webhook/testing';
import { type ContractApp, contractApp, writeAnswer } from '@factuarea-webhook/testing/contract-app';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { start } from './support.ts';

/** The request as the middleware form leaves it. */
interface Marked {
  readonly factuarea?: Parameters<ContractApp['route']>[0];
}

const subject: AdapterSubject = {
  name: 'node:http',
  async start(config) {
    const app = contractApp(config);
    const handler = nodeHandler(createReceiver(app.handlerOptions));
    const middleware = nodeMiddleware(createReceiver(app.middlewareOptions));
    const { port, close } = await start((req, res) => {
      if (req.url === '/contract/state') return res.end(JSON.stringify(app.state()));
      if (req.url === '/parsed') return req.on('end', () => handler(req, res)).resume();
      if (req.url !== '/middleware') return handler(req, res);
      return middleware(req, res, () => {
        const { factuarea } = req as Marked;
        if (!factuarea) throw new Error('The route ran without a context.');
        app.route(factuarea).then(
          (answer) => writeAnswer(res, answer),
          () => res.writeHead(500).end(),
        );
      });
    });
    return { url: `http://127.0.0.1:${port}`, close };
  },
};

adapterContract(subject, { describe, test, beforeAll, afterAll });
