// Modules as strings: a file and all its imports, with types stripped, without a bundler.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'

/** Named by its path in the tree. */
export type ModuleText = { readonly name: string; readonly text: string }

const IMPORT = /^(?:import (?!type )|\} )[^'\n]*from '(\.[^']*)'$/gm

/** Line numbers are those of the source. */
export function modulesFrom(entry: string): ModuleText[] {
  const found = new Map<string, string>()
  const waiting = [entry]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const path = join(ROOT, name)
    if (!existsSync(path)) throw new Fault(`${path} is missing.`)
    const source = readFileSync(path, 'utf8')
    found.set(name, source)
    for (const [, specifier = ''] of source.matchAll(IMPORT)) waiting.push(posix.join(dirname(name), specifier))
  }
  const texts = withoutTypes([...found.values()])
  return [...found.keys()].map((name, i) => ({ name, text: texts[i] ?? '' }))
}

/** In a separate process, in which Node's warning about the experimental feature is not printed. */
function withoutTypes(sources: readonly string[]): string[] {
  const code = `import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
const sources = JSON.parse(readFileSync(0, 'utf8'))
process.stdout.write(JSON.stringify(sources.map((source) => stripTypeScriptTypes(source))))`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', input: JSON.stringify(sources) }))
}
