// Generates the module that contains the modules of src/kits/node-program/runtime as strings, which an isolate loads.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { modulesFrom } from './module-texts.ts'

const SOURCES = 'src/kits/node-program/runtime/'
const GENERATED = join(ROOT, 'src/kits/node-program/runtime.generated.ts')

const HEAD = `// Made from ${SOURCES} by \`npm run build:runtime\`.

export const RUNTIME_MODULES: Readonly<Record<string, string>> = {
`

/** The text of the generated module for the current sources. */
export function generatedRuntime(): string {
  const modules = modulesFrom(`${SOURCES}run.ts`).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const entries = modules.map(({ name, text }) => {
    if (!name.startsWith(SOURCES)) throw new Fault(`${name} is not in ${SOURCES}: the isolate has nothing else.`)
    return `  '${name.slice(SOURCES.length)}': ${listed(text)},\n`
  })
  return `${HEAD}${entries.join('')}}\n`
}

export function keptRuntime(): string {
  return readFileSync(GENERATED, 'utf8')
}

export function keepRuntime(text: string): void {
  writeFileSync(GENERATED, text)
}

/** One string per line, so that a change of a source line changes one line here. */
function listed(text: string): string {
  const lines = text.split('\n').map((line) => `    ${JSON.stringify(line)},\n`)
  return `[\n${lines.join('')}  ].join('\\n')`
}
