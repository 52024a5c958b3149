// Filters applied to their own results, implemented with a list instead of nested calls, so that no depth is too great.

import type { Filter, Machine, PathValue } from './machine.ts'

/** The value, then the filter's results for it, and for those again. */
export function recurseWith(filter: Filter, { steps }: Machine): Filter {
  return (env, input, emit) => {
    const waiting: PathValue[] = [input]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      steps.take()
      emit(next.value, next.path)
      const found: PathValue[] = []
      filter(env, next, (value, path) => found.push({ value, path }))
      while (found.length > 0) {
        const last = found.pop()
        if (last) waiting.push(last)
      }
    }
  }
}

type Choice = 'emit' | 'go on' | 'both' | 'neither'

/**
 * `while` and `until`: for each result of the condition, whether the value is a result and whether the loop continues
 * with it.
 */
export function loopWith(
  { condition, next: update, choose }: { condition: Filter; next: Filter; choose: (isMet: boolean) => Choice },
  { steps }: Machine,
): Filter {
  return (env, input, emit) => {
    // The pending work: a value to process, or a result to pass on.
    const waiting: { at: PathValue; isResult: boolean }[] = [{ at: input, isResult: false }]
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const { at, isResult } = item
      steps.take()
      if (isResult) {
        emit(at.value, at.path)
        continue
      }
      const todo: typeof waiting = []
      condition(env, { value: at.value, path: undefined }, (value) => {
        const choice = choose(value !== null && value !== false)
        if (choice === 'emit' || choice === 'both') todo.push({ at, isResult: true })
        if (choice === 'go on' || choice === 'both') {
          update(env, at, (one, path) => todo.push({ at: { value: one, path }, isResult: false }))
        }
      })
      waiting.push(...todo.reverse())
    }
  }
}
