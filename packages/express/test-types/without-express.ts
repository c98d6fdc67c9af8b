import { createServer } from 'node:http';
import { factuareaWebhook } from '@factuarea-webhook/express';

/** A program that knows nothing of Express's types. */
const webhook = factuareaWebhook({ handler: () => {} });
createServer((req, res) => webhook(req, res, () => res.writeHead(404).end()));
