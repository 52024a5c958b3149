// Makes of the modules in src/kits/node-program/runtime the one that holds them as texts: what an isolate is loaded with.

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

/** The text of the generated module, as the sources make it now. */
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

/** A string for each line, so that a change of one is a change of one here. */
function listed(text: string): string {
  const lines = text.split('\n').map((line) => `    ${JSON.stringify(line)},\n`)
  return `[\n${lines.join('')}  ].join('\\n')`
}
