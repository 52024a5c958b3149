// The Node modules that a program can use: those of the isolate's runtime, and those replaced by our own, because the
// runtime's do not know the workspace.

/** Implemented by the modules in `runtime`. */
const OWN_BUILTINS = [
  'fs',
  'fs/promises',
  'process',
  'test',
  'module',
  'child_process',
  'console',
  'timers',
  'readline',
  'readline/promises',
] as const

const OF_RUNTIME = [
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'crypto',
  'diagnostics_channel',
  'events',
  'os',
  'path',
  'path/posix',
  'perf_hooks',
  'punycode',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'timers/promises',
  'tty',
  'url',
  'util',
  'util/types',
  'zlib',
] as const

const OWN: ReadonlySet<string> = new Set(OWN_BUILTINS)
const ALL: ReadonlySet<string> = new Set([...OWN_BUILTINS, ...OF_RUNTIME])

/** The name without `node:` if there is such a module; otherwise null. */
export function isBuiltin(specifier: string): string | null {
  const name = specifier.startsWith('node:') ? specifier.slice(5) : specifier
  // Node has this one with its full name only.
  if (name === 'test' && !specifier.startsWith('node:')) return null
  return ALL.has(name) ? name : null
}

export function isOfRuntime(name: string): boolean {
  return ALL.has(name) && !OWN.has(name)
}
