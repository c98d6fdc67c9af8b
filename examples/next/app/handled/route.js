import { opened } from '../../webhook.js';

export const dynamic = 'force-dynamic';

export const GET = async () => Response.json(await (await opened()).handled.list());
