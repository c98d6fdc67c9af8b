import type { UserConfig } from 'tsdown';
import { library } from '../../tsdown.base.ts';

const config: UserConfig = library(
  'src/index.ts',
  'src/fetch.ts',
  'src/store-kit.ts',
  'src/hmac.node.ts',
  'src/hmac.web.ts',
);
export default config;
