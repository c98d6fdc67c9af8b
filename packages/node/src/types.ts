/** What is used of a request: an `IncomingMessage` of `node:http`, or what frameworks make of one. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** What is used of a response: a `ServerResponse` of `node:http`, or what frameworks make of one. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  getHeaderNames(): string[];
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** A middleware of the kind that Express and Connect take. */
export type NodeMiddleware = (req: NodeRequest, res: NodeResponse, next: (error?: unknown) => void) => void;

/** A request handler of the kind that `http.createServer` takes. */
export type NodeHandler = (req: NodeRequest, res: NodeResponse) => void;
