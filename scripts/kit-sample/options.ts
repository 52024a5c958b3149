import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'

export const USAGE = 'npm run sample -- [--as-kept] [--seconds N] [--gaps]'
/** The time budget of the sample, including `REAL_MS` per entry. */
const SECONDS = '100'

/** Throws a `Fault` that lists the allowed options. */
export function readOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'as-kept': { type: 'boolean', default: false },
        seconds: { type: 'string', default: SECONDS },
        gaps: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new Fault(`${messageOf(error)}. ${USAGE}`)
  }
}
