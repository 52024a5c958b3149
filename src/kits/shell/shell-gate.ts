// Every file access of a script passes here. A long script can be paused here, and the access of an ended one is
// blocked: a command left behind must not write any more.

import type { IFileSystem } from 'just-bash/browser'
import { FileSystemError } from '../../workspace/file-system.ts'
import type { Pacer } from './shell-pacer.ts'

export class Gate {
  readonly fs: IFileSystem
  #closed = false

  constructor(fs: IFileSystem, pacer: Pacer) {
    const passes = new Map<PropertyKey, unknown>()
    this.fs = new Proxy(fs, {
      get: (target, name) => {
        if (!passes.has(name)) passes.set(name, this.#pass(target, name, pacer))
        return passes.get(name)
      },
    })
  }

  close(): void {
    this.#closed = true
  }

  #pass(target: IFileSystem, name: PropertyKey, pacer: Pacer): unknown {
    const method: unknown = Reflect.get(target, name)
    if (typeof method !== 'function') return method
    // These two are synchronous, and access no file.
    if (name === 'resolvePath' || name === 'getAllPaths') return method.bind(target)
    return async (...args: unknown[]) => {
      const pause = pacer.pauseIfDue()
      if (pause) await pause
      if (this.#closed) throw new FileSystemError('EIO', String(args[0]), { detail: 'the script has ended' })
      return method.apply(target, args)
    }
  }
}
