import type { LimitKind } from './limits.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
const STARTS = /^\/api\/conversations(\/[^/]+\/start)?$/
const ANALYSES = /^\/api\/v1\/analysis\/(analyze|market-review)$/

/** Which limit a request counts against. */
export function kindOf(method: string, path: string): LimitKind {
  if (READS.has(method)) return 'reads'
  if (method !== 'POST') return 'writes'
  if (path.endsWith('/upload-files')) return 'uploads'
  if (STARTS.test(path)) return 'starts'
  return ANALYSES.test(path) ? 'analyses' : 'writes'
}
