import { project } from '../jest.base.mjs';

export default project(import.meta.url);
