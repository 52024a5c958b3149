// Filters that go on with their own results, done with a list instead of calls in calls: there is no depth that is too deep.

import type { Filter, Machine, PathValue } from './machine.ts'

/** The value, then what the filter makes of it, and of that again. */
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

/** `while` and `until`: for each result of the condition, whether the value is a result and whether it is gone on with. */
export function loopWith(
  { condition, next: update, choose }: { condition: Filter; next: Filter; choose: (isMet: boolean) => Choice },
  { steps }: Machine,
): Filter {
  return (env, input, emit) => {
    // What is still to be done: a value to be looked at, or one to be handed on.
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
