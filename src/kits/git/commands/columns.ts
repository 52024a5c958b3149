import type { Arguments } from '../arguments.ts'
import { fatal } from '../failure.ts'

/** Lists are never set in columns here; what asks for none is what happens. */
export function refuseColumns(options: Arguments): void {
  if (!options.has('column')) return
  const style = options.value('column') ?? ''
  if (!/^(never|auto)\b/.test(style)) throw fatal(`--column${style === '' ? '' : `=${style}`} is not available here`)
}
