import type { UserConfig } from 'tsdown';
import { library } from '../../tsdown.base.ts';

const config: UserConfig = library('src/index.ts', 'src/contract-app.ts', 'src/store-contract.ts');
export default config;
