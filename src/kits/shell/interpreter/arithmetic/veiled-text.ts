// `eval` and `source` parse their text by themselves: they are given it veiled.

import type { Watched } from '../position.ts'
import type { CommandCall, StepResult } from '../shape.ts'
import { veiled } from './veil.ts'

export async function withVeil(
  { ctx }: Watched,
  call: CommandCall,
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  const [name, given] = call
  if (name === 'eval') {
    const text = (given[0] === '--' ? given.slice(1) : given).join(' ')
    if (veiled(text) !== text) call[1] = ['--', veiled(text)]
    return run()
  }
  const { fs } = ctx
  // The file is the first that is read.
  ctx.fs = new Proxy(fs, {
    get: (target, field) => {
      const method: unknown = Reflect.get(target, field)
      if (field !== 'readFile') return typeof method === 'function' ? method.bind(target) : method
      return async (...args: Parameters<typeof fs.readFile>) => {
        const text = await fs.readFile(...args)
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
