// The only module that loads the shell: half a megabyte that is parsed when the first script runs.

import { Bash } from 'just-bash/browser'
import { wholeAsWritten } from '../interpreter/arithmetic/mend.ts'
import { interpreterPrototype } from '../interpreter/prototype.ts'
import type { Script } from '../interpreter/shape.ts'
import { watchSteps } from '../interpreter/steps.ts'

export { defineCommand, getCommandNames } from 'just-bash/browser'
export { Bash }

/** Must be awaited before a script is run: from then on each step of every interpreter is watched. */
export const ready: Promise<void> = interpreterPrototype(new Bash({ defenseInDepth: false })).then(watchSteps)

const printer = new Bash({ defenseInDepth: false })
let printed: Script | null = null
printer.registerTransformPlugin({ name: 'print', transform: ({ ast }) => ({ ast: printed ?? ast }) })

/** The text of a syntax tree: the library has this function for scripts changed by a plugin. */
export function textOfScript(script: Script): string {
  printed = wholeAsWritten(script)
  return printer.transform(':').script
}
