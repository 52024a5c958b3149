// Mocks of `node:test`: functions that remember their calls, and what puts them into objects and takes them out again.

type Callable = (this: unknown, ...args: never[]) => unknown

interface MockCall {
  arguments: unknown[]
  this: unknown
  result: unknown
  error: unknown
  target: unknown
}

const isCallable = (given: unknown): given is Callable => typeof given === 'function'
const nothing: Callable = () => undefined

function control(original: Callable, implementation: Callable) {
  const calls: MockCall[] = []
  const once = new Map<number, Callable>()
  let run = implementation
  return {
    /** What the next call is to run. */
    next: () => once.get(calls.length) ?? run,
    mock: {
      calls,
      callCount: () => calls.length,
      mockImplementation: (next: Callable) => {
        run = next
      },
      mockImplementationOnce: (next: Callable, at = calls.length) => {
        once.set(at, next)
      },
      resetCalls: () => {
        calls.length = 0
      },
      restore: () => {
        run = original
      },
    },
  }
}

export class Mocks {
  readonly #restores: (() => void)[] = []

  fn(original: Callable = nothing, implementation: Callable = original) {
    const { mock, next } = control(original, implementation)
    const fn = function (this: unknown, ...args: unknown[]): unknown {
      const call: MockCall = { arguments: args, this: this, result: undefined, error: undefined, target: new.target }
      const chosen = next()
      mock.calls.push(call)
      try {
        call.result = new.target ? Reflect.construct(chosen, args) : Reflect.apply(chosen, this, args)
        return call.result
      } catch (error) {
        call.error = error
        throw error
      }
    }
    this.#restores.push(mock.restore)
    return Object.assign(fn, { mock })
  }

  method(object: object, name: PropertyKey, implementation?: unknown) {
    const descriptor = Object.getOwnPropertyDescriptor(object, name)
    const original: unknown = Reflect.get(object, name)
    const own = isCallable(original) ? original : nothing
    const fn = this.fn(own, isCallable(implementation) ? implementation : own)
    const restore = () => {
      if (descriptor) Object.defineProperty(object, name, descriptor)
      else Reflect.deleteProperty(object, name)
    }
    fn.mock.restore = restore
    Object.defineProperty(object, name, { value: fn, configurable: true, writable: true })
    this.#restores.push(restore)
    return fn
  }

  getter(object: object, name: PropertyKey, implementation?: Callable) {
    return this.#accessor(object, name, { kind: 'get', implementation })
  }
  setter(object: object, name: PropertyKey, implementation?: Callable) {
    return this.#accessor(object, name, { kind: 'set', implementation })
  }
  #accessor(
    object: object,
    name: PropertyKey,
    { kind, implementation }: { kind: 'get' | 'set'; implementation: Callable | undefined },
  ) {
    const descriptor = Object.getOwnPropertyDescriptor(object, name)
    const fn = this.fn(descriptor?.[kind], implementation)
    Object.defineProperty(object, name, { ...descriptor, [kind]: fn, configurable: true })
    this.#restores.push(() => {
      if (descriptor) Object.defineProperty(object, name, descriptor)
    })
    return fn
  }

  reset(): void {
    this.restoreAll()
  }
  restoreAll(): void {
    for (const restore of this.#restores.splice(0).reverse()) restore()
  }
}
