// A run of `npm test` tries the same made-up inputs each time, so that it fails for what was changed and nothing else;
// `npm run proof` tries new ones.

import { configureGlobal } from 'fast-check'
import { inject } from 'vitest'

if (!inject('isProof')) configureGlobal({ seed: 20_261_122 })
