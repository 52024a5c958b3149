// Node caches compiled code, including stripped TypeScript, for the next start. If the cache cannot be written, or
// does not match, Node compiles as usual.

import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

module.enableCompileCache?.(join(ROOT, 'dist', 'compile-cache'))
