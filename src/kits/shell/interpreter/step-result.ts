import type { StepResult } from './shape.ts'

/** The interpreter counts output when it is passed on, so the count must not exceed the output. */
export function without(result: StepResult, stream: 'stdout' | 'stderr'): StepResult {
  const { internalOutputAccounting: counted, ...rest } = result
  return { ...rest, [stream]: '', ...(counted ? { internalOutputAccounting: { ...counted, [stream]: 0 } } : {}) }
}
