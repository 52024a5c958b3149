// Node keeps what it has compiled, types taken out of TypeScript included, for the next start. Where it cannot be written, or
// what is there does not fit, it compiles as ever.

import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

module.enableCompileCache?.(join(ROOT, 'dist', 'compile-cache'))
