import type { UserConfig } from 'tsdown';
import { library } from '../../tsdown.base.ts';

const config: UserConfig = library('src/index.ts', 'src/pages.ts');
export default config;
