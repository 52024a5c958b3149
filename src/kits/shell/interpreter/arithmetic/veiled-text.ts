// `eval` and `source` parse their text themselves, so they get it veiled.

import type { Watched } from '../position.ts'
import type { CommandCall, StepResult } from '../shape.ts'
import { veiled } from './veil.ts'

type Reading = { text: string; run: () => Promise<StepResult> }

/** `text` is the expanded words of `eval`, or the contents of the file. */
export async function withVeil({ ctx }: Watched, call: CommandCall, { text, run }: Reading): Promise<StepResult> {
  if (call[0] === 'eval') {
    call[1] = ['--', veiled(text)]
    return run()
  }
  const { fs } = ctx
  // The file is the first one that is read.
  ctx.fs = new Proxy(fs, {
    get: (target, field) => {
      const method: unknown = Reflect.get(target, field)
      if (field !== 'readFile') return typeof method === 'function' ? method.bind(target) : method
      return async () => {
        ctx.fs = fs
        return veiled(text)
      }
    },
  })
  try {
    return await run()
  } finally {
    ctx.fs = fs
  }
}
