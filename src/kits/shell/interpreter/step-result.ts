import type { StepResult } from './shape.ts'

/** The interpreter counts what is written where it is passed on, and must not find more counted than there is. */
export function without(result: StepResult, stream: 'stdout' | 'stderr'): StepResult {
  const { internalOutputAccounting: counted, ...rest } = result
  return { ...rest, [stream]: '', ...(counted ? { internalOutputAccounting: { ...counted, [stream]: 0 } } : {}) }
}
