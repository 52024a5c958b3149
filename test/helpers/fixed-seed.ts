// `npm test` uses the same generated inputs in each run, so that only a change of the code can make it fail;
// `npm run proof` uses new ones.

import { configureGlobal } from 'fast-check'
import { inject } from 'vitest'

if (!inject('isProof')) configureGlobal({ seed: 20_261_122 })
