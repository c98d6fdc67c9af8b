export { type HeldResponse, holdResponse } from './hold.ts';
export { toIncoming } from './incoming.ts';
export { nodeHandler, nodeMiddleware } from './middleware.ts';
export { writeOutgoing } from './outgoing.ts';
export type { NodeHandler, NodeMiddleware, NodeRequest, NodeResponse } from './types.ts';
