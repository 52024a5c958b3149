import { expect, test } from 'vitest'
import { generatedRuntime, keptRuntime } from '../../../../scripts/programs/isolate-runtime.ts'

test('what an isolate is loaded with is made from the modules as they are: if not, `npm run build:runtime`', () => {
  expect(keptRuntime() === generatedRuntime()).toBe(true)
})

test('the modules stand in it as they are run: without types, without what is not theirs', async () => {
  const { RUNTIME_MODULES } = await import('../../../../src/kits/node-program/runtime.generated.ts')
  const names = Object.keys(RUNTIME_MODULES)
  expect(names).toEqual(expect.arrayContaining(['run.ts', 'fs.ts', 'readline.ts', 'test.ts']))
  for (const [name, text] of Object.entries(RUNTIME_MODULES)) {
    const imported = [...text.matchAll(/^(?:import|\}) [^'\n]*from '([^']*)'$/gm)].map(
      ([, specifier = '']) => specifier,
    )
    const strange = imported.filter((one) => !one.startsWith('node:') && !names.includes(one.replace(/^\.\//, '')))
    expect({ name, strange }).toEqual({ name, strange: [] })
  }
})
